// quant_batch_matmul_v3: the sums, then scales, biases and the rounding of each row in fp32.
#include "ops/quant_matmul.h"

#include <algorithm>
#include <memory>

#include "kernels/simd/cube.h"
#include "kernels/simd/integer_product.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// An optional input of numbers by channel.
struct OptionalNumbers {
  std::size_t input;
  DType dtype = DType::fp32;
  std::int64_t count = 0;

  OptionalNumbers(const Problem& problem, std::size_t i) : input(i) {
    if (!is_given(problem.inputs, i)) return;
    dtype = problem.inputs[i].dtype;
    count = problem.inputs[i].elements();
  }
  // `usual` for those that are not given.
  void load(const KernelArgs& args, float usual, std::int64_t channels, float* to) const {
    if (count > 0) load_numbers(dtype, args.inputs[input], count, to);
    if (count < channels) std::fill_n(to, channels, count == 0 ? usual : to[0]);
  }
};

/// The scales, biases and offset that follow the sums of a row.
struct Epilogue {
  MatMulShape shape;
  DType to;
  OptionalNumbers scale, offset, bias, token;
  Scratch scales, offsets, biases, tokens;

  explicit Epilogue(const Problem& problem)
      : shape(quant_matmul_shape(problem.inputs, problem.attrs)),
        to(problem.outputs[0].dtype),
        scale(problem, 2),
        offset(problem, 3),
        bias(problem, 4),
        token(problem, 5),
        scales(shape.n),
        offsets(shape.n),
        biases(shape.n),
        tokens(shape.m) {}

  bool has_integer_bias() const { return bias.count > 0 && bias.dtype == DType::int32; }

  void load(const KernelArgs& args) const {
    scale.load(args, 1, shape.n, scales.data());
    offset.load(args, 0, shape.n, offsets.data());
    token.load(args, 1, shape.m, tokens.data());
    if (!has_integer_bias()) bias.load(args, 0, shape.n, biases.data());
  }

  // Columns [column, column + count) of a row of all matrices.
  void integers(const KernelArgs& args, std::int64_t row, std::int64_t column, std::int64_t count,
                std::int32_t* sums) const {
    if (has_integer_bias()) {
      const auto* added = static_cast<const std::int32_t*>(args.inputs[bias.input]);
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int32_t more = added[bias.count == 1 ? 0 : column + c];
        sums[c] = static_cast<std::int32_t>(std::uint32_t(sums[c]) + std::uint32_t(more));
      }
    }
    const std::int64_t first = row * shape.n + column;
    if (to == DType::int32) {
      std::copy_n(sums, count, static_cast<std::int32_t*>(args.outputs[0]) + first);
      return;
    }
    thread_local AlignedFloats numbers;
    numbers.resize(count);
    std::transform(sums, sums + count, numbers.data(),
                   [](std::int32_t sum) { return static_cast<float>(sum); });
    floats(args, row, column, count, numbers.data());
  }

  void floats(const KernelArgs& args, std::int64_t row, std::int64_t column, std::int64_t count,
              float* sums) const {
    const float *const s = scales.data() + column, *const b = biases.data() + column,
                       *const o = offsets.data() + column, t = tokens.data()[row % shape.m];
    for (std::int64_t c = 0; c < count; ++c) {
      sums[c] *= s[c];
      if (token.count > 0) sums[c] *= t;
      if (bias.count > 0 && !has_integer_bias()) sums[c] += b[c];
      if (offset.count > 0) sums[c] += o[c];
    }
    void* const stored = at(args.outputs[0], to, row * shape.n + column);
    if (to == DType::int8) return store_steps(steps_of(to), sums, count, stored);
    store_floats(to, sums, count, stored);
  }
};

template <class T>
void load_factor(DType dtype, const void* from, std::int64_t count, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    load_numbers(dtype, from, count, to);
  } else {
    std::copy_n(static_cast<const std::int8_t*>(from), count, to);
  }
}

/// Matrices [rows, columns] as rows of T `pitch` apart, transposed if `is_turned`.
template <class T>
void pack(DType dtype, const void* from, std::int64_t matrix, std::int64_t rows,
          std::int64_t columns, bool is_turned, std::int64_t pitch, T* to) {
  const std::int64_t first = matrix * rows * columns;
  if (!is_turned) {
    parallel_blocks(rows, [&](std::int64_t r) {
      load_factor(dtype, at(from, dtype, first + r * columns), columns, to + r * pitch);
      std::fill(to + r * pitch + columns, to + (r + 1) * pitch, T(0));
    });
    return;
  }
  constexpr std::int64_t kWidth = 64;  // columns that are turned together
  parallel_blocks((columns + kWidth - 1) / kWidth, [&](std::int64_t part) {
    const std::int64_t column = part * kWidth, width = std::min(kWidth, columns - column);
    T line[kWidth];
    for (std::int64_t r = 0; r < rows; ++r) {
      load_factor(dtype, at(from, dtype, first + r * columns + column), width, line);
      for (std::int64_t c = 0; c < width; ++c) to[(column + c) * pitch + r] = line[c];
    }
    for (std::int64_t c = 0; c < width; ++c) {
      std::fill(to + (column + c) * pitch + rows, to + (column + c + 1) * pitch, T(0));
    }
  });
}

// Sums of int8 and int4 are exact in int32, those of floats are added in fp32 in the order of k.
template <class T>
Launch plain(const Problem& problem) {
  const auto e = std::make_shared<const Epilogue>(problem);
  const MatMulShape& s = e->shape;
  const auto left = std::make_shared<const Scratch>(s.m * s.k),
             right = std::make_shared<const Scratch>(s.k * s.n);
  return [e, left, right, dtype = problem.inputs[0].dtype](const KernelArgs& args) {
    const MatMulShape& of = e->shape;
    T *const a = reinterpret_cast<T*>(left->data()), *const b = reinterpret_cast<T*>(right->data());
    e->load(args);
    for (std::int64_t i = 0; i < of.batch; ++i) {
      const bool ta = of.transpose_a, tb = of.transpose_b;
      pack(dtype, args.inputs[0], i, ta ? of.k : of.m, ta ? of.m : of.k, ta, of.k, a);
      pack(dtype, args.inputs[1], i, tb ? of.n : of.k, tb ? of.k : of.n, tb, of.n, b);
      parallel_blocks(of.m, [&](std::int64_t r) {
        thread_local AlignedFloats memory;
        memory.resize(of.n);
        T* const sums = reinterpret_cast<T*>(memory.data());
        std::fill_n(sums, of.n, T(0));
        for (std::int64_t k = 0; k < of.k; ++k) {
          const T factor = a[r * of.k + k];
          for (std::int64_t c = 0; c < of.n; ++c) sums[c] += factor * b[k * of.n + c];
        }
        const std::int64_t row = i * of.m + r;
        if constexpr (std::is_same_v<T, float>) {
          e->floats(args, row, 0, of.n, sums);
        } else {
          e->integers(args, row, 0, of.n, sums);
        }
      });
    }
  };
}

Launch prepare_plain(const Problem& problem) {
  return is_floating(problem.inputs[0].dtype) ? plain<float>(problem)
                                              : plain<std::int32_t>(problem);
}

constexpr std::int64_t kTileRows = 48, kTileColumns = 96;

// 16-bit elements in fp32 temporaries.
std::int64_t packed_floats(std::int64_t rows, std::int64_t k) {
  return (rows * integer_pitch(k) + 1) / 2;
}

Launch prepare_packed(const Problem& problem) {
  const auto e = std::make_shared<const Epilogue>(problem);
  const MatMulShape& s = e->shape;
  const auto left = std::make_shared<const Scratch>(packed_floats(s.m, s.k)),
             right = std::make_shared<const Scratch>(packed_floats(s.n, s.k));
  return [e, left, right, dtype = problem.inputs[0].dtype](const KernelArgs& args) {
    const MatMulShape& of = e->shape;
    auto *const a = reinterpret_cast<std::int16_t*>(left->data()),
                *const b = reinterpret_cast<std::int16_t*>(right->data());
    const std::int64_t pitch = integer_pitch(of.k);
    const std::int64_t down = (of.m + kTileRows - 1) / kTileRows,
                       across = (of.n + kTileColumns - 1) / kTileColumns;
    e->load(args);
    for (std::int64_t i = 0; i < of.batch; ++i) {
      const bool ta = of.transpose_a, tb = of.transpose_b;
      pack(dtype, args.inputs[0], i, ta ? of.k : of.m, ta ? of.m : of.k, ta, pitch, a);
      pack(dtype, args.inputs[1], i, tb ? of.n : of.k, tb ? of.k : of.n, !tb, pitch, b);
      parallel_blocks(down * across, [&](std::int64_t part) {
        const std::int64_t row = part % down * kTileRows, column = part / down * kTileColumns;
        const std::int64_t rows = std::min(kTileRows, of.m - row),
                           columns = std::min(kTileColumns, of.n - column);
        std::int32_t sums[kTileRows * kTileColumns];
        integer_product(rows, columns, pitch, a + row * pitch, b + column * pitch, sums,
                        kTileColumns);
        for (std::int64_t r = 0; r < rows; ++r) {
          e->integers(args, i * of.m + row + r, column, columns, sums + r * kTileColumns);
        }
      });
    }
  };
}

std::string refuse_floats(const Problem& problem) {
  return is_floating(problem.inputs[0].dtype) ? "the packed product takes int8 and int4" : "";
}

std::size_t plain_bytes(const Problem& problem) {
  const MatMulShape s = quant_matmul_shape(problem.inputs, problem.attrs);
  return static_cast<std::size_t>((s.m + s.n) * s.k) * sizeof(float);
}

std::size_t packed_bytes(const Problem& problem) {
  const MatMulShape s = quant_matmul_shape(problem.inputs, problem.attrs);
  return static_cast<std::size_t>((s.m + s.n) * integer_pitch(s.k)) * sizeof(std::int16_t);
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "quant_batch_matmul_v3",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "sums in int32, or in fp32 for fp8 and hif8; then fp32",
                      .prepare = prepare_plain,
                      .temporary_bytes = plain_bytes}),
    RegisteredKernel({.op = "quant_batch_matmul_v3",
                      .name = "quant_batch_matmul_v3",
                      .provider = Provider::npu,
                      .summary = "QuantBatchMatmulV3: packed factors, tiles of 48 rows and 96 "
                                 "columns of exact sums",
                      .refusal = refuse_floats,
                      .prepare = prepare_packed,
                      .temporary_bytes = packed_bytes}),
};

}  // namespace
}  // namespace opbench
