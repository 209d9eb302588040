// MatMulV2 and BatchMatMul: operands packed as the cube unit takes them, tiles of 64 rows.
#include "ops/matmul.h"

#include <algorithm>
#include <memory>

#include "kernels/lanes/cube.h"
#include "kernels/lanes/elementwise.h"
#include "kernels/lanes/in_fp32.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTileRows = 64;

// Matrices [rows, columns] one behind the other, plain or in FRACTAL_NZ.
struct Matrices {
  DType dtype;
  std::int64_t rows, columns;
  bool is_fractal;

  explicit Matrices(const TensorDesc& desc)
      : dtype(desc.dtype),
        rows(desc.shape[desc.shape.size() - 2]),
        columns(desc.shape.back()),
        is_fractal(desc.format == Format::FRACTAL_NZ) {}

  std::int64_t matrix_elements() const {
    return is_fractal ? round_up_to_cube(rows) * round_up_to_cube(columns) : rows * columns;
  }
  // Calls part(column, count, offset) for the contiguous parts of a row.
  template <class Part>
  void for_each_part(std::int64_t matrix, std::int64_t row, Part part) const {
    const std::int64_t first = matrix * matrix_elements();
    if (!is_fractal) return part(std::int64_t{0}, columns, first + row * columns);
    for (std::int64_t column = 0; column < columns; column += kCube) {
      part(column, std::min(kCube, columns - column),
           first + column * round_up_to_cube(rows) + row * kCube);
    }
  }
  void load_row(const void* from, std::int64_t matrix, std::int64_t row, float* to) const {
    for_each_part(matrix, row, [&](std::int64_t column, std::int64_t count, std::int64_t offset) {
      load_operands(dtype, at(from, dtype, offset), count, to + column);
    });
  }
  void store_row(const float* from, std::int64_t matrix, std::int64_t row, void* to) const {
    for_each_part(matrix, row, [&](std::int64_t column, std::int64_t count, std::int64_t offset) {
      store_floats(dtype, from + column, count, at(to, dtype, offset));
    });
  }
};

// Rows [first, first + count) of a stored matrix to [rows, columns] with rows `pitch` apart, or
// transposed.
void pack_rows(const Matrices& x, const void* from, std::int64_t matrix, std::int64_t first,
               std::int64_t count, bool transpose, std::int64_t pitch, float* to) {
  if (!transpose) {
    for (std::int64_t r = first; r < first + count; ++r)
      x.load_row(from, matrix, r, to + r * pitch);
    return;
  }
  thread_local std::vector<float> rows;
  rows.resize(static_cast<std::size_t>(count * x.columns));
  for (std::int64_t r = 0; r < count; ++r) {
    x.load_row(from, matrix, first + r, rows.data() + r * x.columns);
  }
  for (std::int64_t c = 0; c < x.columns; ++c) {
    for (std::int64_t r = 0; r < count; ++r) {
      to[c * pitch + first + r] = rows[static_cast<std::size_t>(r * x.columns + c)];
    }
  }
}

struct MatMul {
  MatMulShape shape;
  Matrices a, b, c;
  DType bias_dtype;
  bool has_bias;
  std::int64_t pitch;  // of a row of the second factor and of the sums
  Scratch left, right;

  explicit MatMul(const Problem& problem)
      : shape(matmul_shape(problem)),
        a(problem.inputs[0]),
        b(problem.inputs[1]),
        c(problem.outputs[0]),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2),
        pitch(round_up_to_cube(shape.n)),
        left(shape.batch * shape.m * shape.k),
        right(shape.batch * shape.k * pitch) {}

  void pack(const Matrices& x, const void* from, bool transpose, std::int64_t row_pitch,
            std::int64_t elements, float* to) const {
    const std::int64_t blocks = (x.rows + kCube - 1) / kCube;
    parallel_blocks(shape.batch * blocks, [&](std::int64_t i) {
      const std::int64_t first = i % blocks * kCube;
      pack_rows(x, from, i / blocks, first, std::min(kCube, x.rows - first), transpose, row_pitch,
                to + i / blocks * elements);
    });
  }

  void tile(const KernelArgs& args, std::int64_t matrix, std::int64_t first) const {
    thread_local std::vector<float> sums, bias;
    const std::int64_t rows = std::min(kTileRows, shape.m - first);
    sums.resize(static_cast<std::size_t>(kTileRows * pitch));
    gemm({rows, pitch, shape.k, shape.k, pitch, pitch},
         left.data() + (matrix * shape.m + first) * shape.k,
         right.data() + matrix * shape.k * pitch, sums.data());
    if (has_bias) {
      bias.resize(static_cast<std::size_t>(shape.n));
      load_floats(bias_dtype, args.inputs[2], shape.n, bias.data());
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      float* row = sums.data() + r * pitch;
      for (std::int64_t i = 0; has_bias && i < shape.n; ++i) row[i] += bias.data()[i];
      c.store_row(row, matrix, first + r, args.outputs[0]);
    }
  }

  void operator()(const KernelArgs& args) const {
    pack(a, args.inputs[0], shape.transpose_a, shape.k, shape.m * shape.k, left.data());
    pack(b, args.inputs[1], shape.transpose_b, pitch, shape.k * pitch, right.data());
    const std::int64_t tiles = (shape.m + kTileRows - 1) / kTileRows;
    parallel_blocks(shape.batch * tiles,
                    [&](std::int64_t i) { tile(args, i / tiles, i % tiles * kTileRows); });
  }
};

Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<MatMul>(problem)](const KernelArgs& args) { (*plan)(args); };
}

std::size_t temporaries(const Problem& problem) {
  const MatMulShape s = matmul_shape(problem);
  return static_cast<std::size_t>(s.batch * s.k * (s.m + round_up_to_cube(s.n))) * sizeof(float);
}

const RegisteredKernel matmul{{
    .op = "matmul",
    .name = "mat_mul_v2",
    .summary = "MatMulV2, BatchMatMul: fp16 operands, fp32 sums; plain or FRACTAL_NZ",
    .refusal = cube_refusal,
    .prepare = prepare,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries,
}};

const RegisteredKernel linear{{
    .op = "linear",
    .name = "mat_mul_v2",
    .summary = "MatMulV2 with the weight transposed: fp16 operands, fp32 sums and bias",
    .refusal = cube_refusal,
    .prepare = prepare,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries,
}};

}  // namespace
}  // namespace opbench
