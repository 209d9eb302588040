// MatMulV2 and BatchMatMul: operands packed as the cube unit takes them, tiles of 64 rows and 256
// columns.
#include "ops/matmul.h"

#include <algorithm>
#include <memory>

#include "kernels/lanes/cube.h"
#include "kernels/lanes/elementwise.h"
#include "kernels/lanes/in_fp32.h"
#include "kernels/move/plane.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Whole blocks of the cube. The second factor lies in panels of so many columns, each as a tile
// reads it: rows of the whole matrix would be a page apart.
constexpr std::int64_t kTileRows = 64, kTileColumns = 64;

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
  // Calls use(column, width, rows, apart) for parts of the rows [row, row + count), at most a block
  // of the cube: what the cube takes of `width` columns from `column` on, in fp32, rows `apart`
  // elements from each other.
  template <class Use>
  void load(const void* from, std::int64_t matrix, std::int64_t row, std::int64_t count,
            Use use) const {
    const std::int64_t first = matrix * matrix_elements();
    // What fits into the first cache. Rows a multiple of 4 KiB apart would share lines of one set.
    constexpr std::int64_t kPart = 256, kApart = kPart + kCube;
    float values[kCube * kApart];
    for (std::int64_t column = 0; column < columns; column += is_fractal ? kCube : kPart) {
      if (is_fractal) {
        const std::int64_t offset = first + column * round_up_to_cube(rows) + row * kCube;
        load_operands(dtype, at(from, dtype, offset), count * kCube, values);
        use(column, std::min(kCube, columns - column), values, kCube);
        continue;
      }
      const std::int64_t width = std::min(kPart, columns - column);
      for (std::int64_t r = 0; r < count; ++r) {
        const std::int64_t offset = first + (row + r) * columns + column;
        load_operands(dtype, at(from, dtype, offset), width, values + r * kApart);
      }
      use(column, width, values, kApart);
    }
  }
  // Columns [begin, end) of a row; begin: a multiple of a block. `from` holds them.
  void store(const float* from, std::int64_t matrix, std::int64_t row, std::int64_t begin,
             std::int64_t end, void* to) const {
    const std::int64_t first = matrix * matrix_elements();
    if (!is_fractal) {
      return store_floats(dtype, from, end - begin, at(to, dtype, first + row * columns + begin));
    }
    for (std::int64_t column = begin; column < end; column += kCube) {
      const std::int64_t offset = first + column * round_up_to_cube(rows) + row * kCube;
      store_floats(dtype, from + column - begin, std::min(kCube, end - column),
                   at(to, dtype, offset));
    }
  }
};

// Up to 16 rows, transposed: columns begin at `to`, `pitch` elements from each other.
void transpose(const float* rows, std::int64_t count, std::int64_t columns, std::int64_t apart,
               std::int64_t pitch, float* to) {
  transpose_plane({sizeof(float), columns, count, apart, pitch, columns, count, nullptr}, rows, to,
                  false);
}

struct MatMul {
  MatMulShape shape;
  Matrices a, b, c;
  DType bias_dtype;
  bool has_bias;
  std::int64_t panels;  // of the second factor
  Scratch left, right;

  explicit MatMul(const Problem& problem)
      : shape(matmul_shape(problem)),
        a(problem.inputs[0]),
        b(problem.inputs[1]),
        c(problem.outputs[0]),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2),
        panels((shape.n + kTileColumns - 1) / kTileColumns),
        left(shape.batch * shape.m * shape.k),
        right(shape.batch * panels * shape.k * kTileColumns) {}

  float* panel(std::int64_t matrix, std::int64_t number) const {
    return right.data() + (matrix * panels + number) * shape.k * kTileColumns;
  }

  // Calls part(matrix, first, count) for every block of 16 rows of a factor as it is stored.
  template <class Part>
  void for_each_block(const Matrices& x, Part part) const {
    const std::int64_t blocks = (x.rows + kCube - 1) / kCube;
    parallel_blocks(shape.batch * blocks, [&](std::int64_t i) {
      const std::int64_t first = i % blocks * kCube;
      part(i / blocks, first, std::min(kCube, x.rows - first));
    });
  }

  void pack_left(const void* from) const {
    for_each_block(a, [&](std::int64_t matrix, std::int64_t first, std::int64_t count) {
      float* const to = left.data() + matrix * shape.m * shape.k;
      a.load(from, matrix, first, count,
             [&](std::int64_t column, std::int64_t width, const float* rows, std::int64_t apart) {
               if (shape.transpose_a) {
                 transpose(rows, count, width, apart, shape.k, to + column * shape.k + first);
                 return;
               }
               for (std::int64_t r = 0; r < count; ++r) {
                 std::copy_n(rows + r * apart, width, to + (first + r) * shape.k + column);
               }
             });
    });
  }

  void pack_right(const void* from) const {
    for_each_block(b, [&](std::int64_t matrix, std::int64_t first, std::int64_t count) {
      b.load(from, matrix, first, count,
             [&](std::int64_t column, std::int64_t width, const float* rows, std::int64_t apart) {
               if (shape.transpose_b) {  // columns of one panel
                 float* const to = panel(matrix, first / kTileColumns) + first % kTileColumns;
                 transpose(rows, count, width, apart, kTileColumns, to + column * kTileColumns);
                 return;
               }
               for (std::int64_t part = column; part < column + width; part += kCube) {
                 float* const to = panel(matrix, part / kTileColumns) + part % kTileColumns;
                 for (std::int64_t r = 0; r < count; ++r) {
                   std::copy_n(rows + r * apart + part - column,
                               std::min(kCube, column + width - part),
                               to + (first + r) * kTileColumns);
                 }
               }
             });
    });
  }

  void tile(const KernelArgs& args, std::int64_t matrix, std::int64_t row,
            std::int64_t column) const {
    thread_local std::vector<float> sums, bias;
    const std::int64_t rows = std::min(kTileRows, shape.m - row);
    const std::int64_t end = std::min(column + kTileColumns, shape.n);
    const std::int64_t width = round_up_to_cube(end - column);
    sums.resize(static_cast<std::size_t>(kTileRows * kTileColumns));
    gemm({rows, width, shape.k, shape.k, kTileColumns, width},
         left.data() + (matrix * shape.m + row) * shape.k, panel(matrix, column / kTileColumns),
         sums.data());
    if (has_bias) {
      bias.resize(static_cast<std::size_t>(kTileColumns));
      load_floats(bias_dtype, at(args.inputs[2], bias_dtype, column), end - column, bias.data());
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      float* of_row = sums.data() + r * width;
      for (std::int64_t i = 0; has_bias && i < end - column; ++i) of_row[i] += bias.data()[i];
      c.store(of_row, matrix, row + r, column, end, args.outputs[0]);
    }
  }

  void operator()(const KernelArgs& args) const {
    pack_left(args.inputs[0]);
    pack_right(args.inputs[1]);
    const std::int64_t down = (shape.m + kTileRows - 1) / kTileRows;
    parallel_blocks(shape.batch * down * panels, [&](std::int64_t i) {
      tile(args, i / panels / down, i / panels % down * kTileRows, i % panels * kTileColumns);
    });
  }
};

Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<MatMul>(problem)](const KernelArgs& args) { (*plan)(args); };
}

std::size_t temporaries(const Problem& problem) {
  const MatMulShape s = matmul_shape(problem);
  const std::int64_t padded = (s.n + kTileColumns - 1) / kTileColumns * kTileColumns;
  return static_cast<std::size_t>(s.batch * s.k * (s.m + padded)) * sizeof(float);
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
