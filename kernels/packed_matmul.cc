#include "kernels/packed_matmul.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/copy/plane.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "ops/matmul.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Whole blocks of the cube. The second factor is stored in panels of this many columns, each in the
// order in which a tile reads it: rows of the whole matrix would be a page apart.
constexpr std::int64_t kTileRows = 64, kTileColumns = 96;

// Up to this many rows (three vectors of sums) do not repay packing the second factor.
constexpr std::int64_t kFewRows = 48;

/// Products that are computed together, by all threads or by one thread.
struct Group {
  std::int64_t first, count;
  std::int64_t slot;  // index of the packed factors of the first product
  bool is_shared;

  /// Calls body(matrix, i) for every i of [0, parts) of each matrix.
  template <class Body>
  void for_each(std::int64_t parts, Body body) const {
    const auto call = [&](std::int64_t i) { body(first + i / parts, i % parts); };
    if (is_shared) return parallel_blocks(count * parts, call);
    for (std::int64_t i = 0; i < count * parts; ++i) call(i);
  }
};

struct MatMul {
  MatMulShape shape;
  Matrices a, b, c;
  DType bias_dtype;
  bool has_bias, is_few, is_direct;
  std::int64_t pitch;   // distance of the first factor's rows
  std::int64_t panels;  // of the second factor
  std::int64_t slots;
  Scratch left, right;

  // With few rows the second factor is read once and not packed. If it is stored in blocks, this
  // pays only if its rows are those of the transposed result.
  static bool has_few_rows(const Problem& problem) {
    const MatMulShape s = matmul_shape(problem);
    return s.m <= kFewRows && (s.transpose_b || problem.inputs[1].format != Format::FRACTAL_NZ);
  }
  // The first factor is multiplied in place if it has the required form.
  static bool takes_left_as_it_lies(const Problem& problem, LoadFactor load) {
    const TensorDesc& x = problem.inputs[0];
    const MatMulShape s = matmul_shape(problem);
    return load == load_floats && x.dtype == DType::fp32 && !is_private(x.format) &&
           !s.transpose_a && pitch_of(s) == s.k;
  }
  // The distance of the first factor's rows. Rows of a panel that are a multiple of 2 KiB apart
  // would share lines of one cache set.
  static std::int64_t pitch_of(const MatMulShape& s) { return s.k % 512 == 0 ? s.k + kCube : s.k; }
  // The number of products with packed factors in memory at a time. With many products each thread
  // packs one and multiplies it while it is in its cache.
  static std::int64_t slots_of(const Problem& problem) {
    const std::int64_t batch = matmul_shape(problem).batch, threads = thread_count();
    return has_few_rows(problem) || batch < 2 * threads ? batch : threads;
  }
  static std::int64_t left_elements(const Problem& problem, LoadFactor load) {
    const MatMulShape s = matmul_shape(problem);
    return takes_left_as_it_lies(problem, load) ? 0 : slots_of(problem) * s.m * pitch_of(s);
  }
  static std::int64_t right_elements(const Problem& problem) {
    const MatMulShape s = matmul_shape(problem);
    if (has_few_rows(problem)) return s.transpose_b ? s.batch * s.k * round_up_to_cube(s.m) : 0;
    return slots_of(problem) * s.k * ((s.n + kTileColumns - 1) / kTileColumns * kTileColumns);
  }

  MatMul(const Problem& problem, LoadFactor load)
      : shape(matmul_shape(problem)),
        a(problem.inputs[0], load),
        b(problem.inputs[1], load),
        c(problem.outputs[0], load),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2),
        is_few(has_few_rows(problem)),
        is_direct(takes_left_as_it_lies(problem, load)),
        pitch(pitch_of(shape)),
        panels((shape.n + kTileColumns - 1) / kTileColumns),
        slots(slots_of(problem)),
        left(left_elements(problem, load)),
        right(right_elements(problem)) {}

  float* panel(const Group& group, std::int64_t matrix, std::int64_t number) const {
    const std::int64_t slot = group.slot + matrix - group.first;
    return right.data() + (slot * panels + number) * shape.k * kTileColumns;
  }

  // The rows of the first factor, `pitch` elements apart.
  const float* left_rows(const KernelArgs& args, const Group& group, std::int64_t matrix) const {
    const std::int64_t slot = group.slot + matrix - group.first, elements = shape.m * pitch;
    if (is_direct) return static_cast<const float*>(args.inputs[0]) + matrix * elements;
    return left.data() + slot * elements;
  }

  // Calls part(matrix, first, count) for every block of 16 rows of a factor as stored.
  template <class Part>
  void for_each_block(const Group& group, const Matrices& x, Part part) const {
    const std::int64_t blocks = (x.rows + kCube - 1) / kCube;
    group.for_each(blocks, [&](std::int64_t matrix, std::int64_t i) {
      part(matrix, i * kCube, std::min(kCube, x.rows - i * kCube));
    });
  }

  void pack_left(const Group& group, const void* from) const {
    if (is_direct) return;
    for_each_block(group, a, [&](std::int64_t matrix, std::int64_t first, std::int64_t count) {
      float* const to = left.data() + (group.slot + matrix - group.first) * shape.m * pitch;
      a.load(from, matrix, first, count,
             [&](std::int64_t column, std::int64_t width, const float* rows, std::int64_t apart) {
               if (shape.transpose_a) {
                 transpose_rows(rows, count, width, apart, pitch, to + column * pitch + first);
                 return;
               }
               for (std::int64_t r = 0; r < count; ++r) {
                 std::copy_n(rows + r * apart, width, to + (first + r) * pitch + column);
               }
             });
    });
  }

  void pack_right(const Group& group, const void* from) const {
    for_each_block(group, b, [&](std::int64_t matrix, std::int64_t first, std::int64_t count) {
      b.load(
          from, matrix, first, count,
          [&](std::int64_t column, std::int64_t width, const float* rows, std::int64_t apart) {
            if (shape.transpose_b) {  // columns of one panel
              float* const to = panel(group, matrix, first / kTileColumns) + first % kTileColumns;
              transpose_rows(rows, count, width, apart, kTileColumns, to + column * kTileColumns);
              return;
            }
            for (std::int64_t part = column; part < column + width; part += kCube) {
              float* const to = panel(group, matrix, part / kTileColumns) + part % kTileColumns;
              for (std::int64_t r = 0; r < count; ++r) {
                std::copy_n(rows + r * apart + part - column,
                            std::min(kCube, column + width - part),
                            to + (first + r) * kTileColumns);
              }
            }
          });
    });
  }

  struct Span {
    std::int64_t first, count;
  };

  void tile(const KernelArgs& args, const Group& group, std::int64_t matrix, std::int64_t row,
            std::int64_t column) const {
    const std::int64_t rows = std::min(kTileRows, shape.m - row);
    const std::int64_t count = std::min(kTileColumns, shape.n - column);
    const std::int64_t width = round_up_to_cube(count);
    const auto multiply_to = [&](float* sums, std::int64_t apart) {
      gemm({rows, width, shape.k, pitch, kTileColumns, apart},
           left_rows(args, group, matrix) + row * pitch,
           panel(group, matrix, column / kTileColumns), sums);
    };
    if (c.dtype == DType::fp32 && !c.is_fractal && width == count) {
      float* const result = static_cast<float*>(args.outputs[0]) + matrix * c.matrix_elements() +
                            row * shape.n + column;
      multiply_to(result, shape.n);
      return add_bias(args, rows, {column, count}, result, shape.n);
    }
    thread_local std::vector<float> sums;
    sums.resize(static_cast<std::size_t>(kTileRows * kTileColumns));
    multiply_to(sums.data(), width);
    store_rows(args, matrix, {row, rows}, {column, count}, sums.data(), width);
  }

  // Adds the bias to rows `apart` elements apart.
  void add_bias(const KernelArgs& args, std::int64_t rows, Span columns, float* sums,
                std::int64_t apart) const {
    if (!has_bias) return;
    thread_local std::vector<float> bias;
    bias.resize(static_cast<std::size_t>(columns.count));
    load_floats(bias_dtype, at(args.inputs[2], bias_dtype, columns.first), columns.count,
                bias.data());
    for (std::int64_t r = 0; r < rows; ++r) {
      std::transform(bias.begin(), bias.end(), sums + r * apart, sums + r * apart, std::plus<>());
    }
  }

  // Stores a part of the result from sums in rows `apart` elements apart; the bias is added to the
  // sums.
  void store_rows(const KernelArgs& args, std::int64_t matrix, Span rows, Span columns, float* sums,
                  std::int64_t apart) const {
    add_bias(args, rows.count, columns, sums, apart);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      c.store(sums + r * apart, matrix, rows.first + r, columns.first,
              columns.first + columns.count, args.outputs[0]);
    }
  }

  // Computes the transposed result from rows of the second factor and the transposed first factor.
  void few_rows_transposed(const KernelArgs& args, const Group& group) const {
    const std::int64_t width = round_up_to_cube(shape.m), k = shape.k;
    for (std::int64_t i = 0; i < shape.batch; ++i) {
      transpose_plane({sizeof(float), k, width, pitch, width, k, shape.m, nullptr},
                      left_rows(args, group, i), right.data() + i * k * width, false);
    }
    for_each_block(group, b, [&](std::int64_t matrix, std::int64_t first, std::int64_t count) {
      float sums[kCube * kFewRows], rows[kFewRows * kCube];
      std::fill_n(sums, kCube * width, 0.0f);
      b.load(args.inputs[1], matrix, first, count,
             [&](std::int64_t column, std::int64_t part, const float* values, std::int64_t apart) {
               gemm({count, width, part, apart, width, width}, values,
                    right.data() + (matrix * k + column) * width, sums, true);
             });
      transpose_plane({sizeof(float), shape.m, kCube, width, kCube, shape.m, kCube, nullptr}, sums,
                      rows, false);
      store_rows(args, matrix, {0, shape.m}, {first, count}, rows, kCube);
    });
  }

  // Computes columns of the result from those of the second factor: as many at a time as are loaded
  // side by side, or fewer so that every thread has work.
  void few_rows(const KernelArgs& args, const Group& group) const {
    const bool is_wide = shape.batch * shape.n >= 2 * thread_count() * kLoadedColumns;
    const std::int64_t side = is_wide ? kLoadedColumns : kTileColumns,
                       parts = (shape.n + side - 1) / side;
    parallel_blocks(shape.batch * parts, [&](std::int64_t i) {
      thread_local std::vector<float> sums;
      const std::int64_t matrix = i / parts, begin = i % parts * side;
      const std::int64_t end = std::min(begin + side, shape.n);
      sums.assign(static_cast<std::size_t>(shape.m * side), 0.0f);
      const float* const rows = left_rows(args, group, matrix);
      for (std::int64_t p = 0; p < shape.k; p += kCube) {
        const std::int64_t terms = std::min(kCube, shape.k - p);
        b.load(
            args.inputs[1], matrix, p, terms, begin, end,
            [&](std::int64_t column, std::int64_t width, const float* values, std::int64_t apart) {
              gemm({shape.m, round_up_to_cube(width), terms, pitch, apart, side}, rows + p, values,
                   sums.data() + column - begin, true);
            });
      }
      store_rows(args, matrix, {0, shape.m}, {begin, end - begin}, sums.data(), side);
    });
  }

  void multiply(const KernelArgs& args, const Group& group) const {
    pack_left(group, args.inputs[0]);
    if (is_few) {
      return shape.transpose_b ? few_rows_transposed(args, group) : few_rows(args, group);
    }
    pack_right(group, args.inputs[1]);
    const std::int64_t down = (shape.m + kTileRows - 1) / kTileRows;
    group.for_each(down * panels, [&](std::int64_t matrix, std::int64_t i) {
      tile(args, group, matrix, i / panels * kTileRows, i % panels * kTileColumns);
    });
  }

  void operator()(const KernelArgs& args) const {
    if (slots == shape.batch) return multiply(args, {0, shape.batch, 0, true});
    parallel_blocks(slots, [&](std::int64_t slot) {
      const std::int64_t end = (slot + 1) * shape.batch / slots;
      for (std::int64_t i = slot * shape.batch / slots; i < end; ++i) {
        multiply(args, {i, 1, slot, false});
      }
    });
  }
};

}  // namespace

void transpose_rows(const float* rows, std::int64_t count, std::int64_t columns, std::int64_t apart,
                    std::int64_t pitch, float* to) {
  transpose_plane({sizeof(float), columns, count, apart, pitch, columns, count, nullptr}, rows, to,
                  false);
}

Launch packed_matmul(const Problem& problem, LoadFactor load) {
  return
      [plan = std::make_shared<MatMul>(problem, load)](const KernelArgs& args) { (*plan)(args); };
}

std::size_t packed_matmul_bytes(const Problem& problem, LoadFactor load) {
  return static_cast<std::size_t>(MatMul::left_elements(problem, load) +
                                  MatMul::right_elements(problem)) *
         sizeof(float);
}

}  // namespace opbench
