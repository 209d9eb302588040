// quant_batch_matmul_v3 as plain loops over widened factors.
#include "kernels/quant_matmul.h"

#include <algorithm>
#include <memory>

#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

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
  const auto e = std::make_shared<const QuantEpilogue>(problem);
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

std::size_t plain_bytes(const Problem& problem) {
  const MatMulShape s = quant_matmul_shape(problem.inputs, problem.attrs);
  return static_cast<std::size_t>((s.m + s.n) * s.k) * sizeof(float);
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "quant_batch_matmul_v3",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "sums in int32, or in fp32 for fp8 and hif8; then fp32",
                      .prepare = prepare_plain,
                      .temporary_bytes = plain_bytes}),
};

}  // namespace
}  // namespace opbench
