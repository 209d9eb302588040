#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "tensor/elements.h"

namespace opbench {

/// Converts `count` elements of `dtype` to fp32: `load_floats` unchanged, `load_operands` as
/// operands of the cube unit.
using LoadFactor = void (*)(DType dtype, const void* from, std::int64_t count, float* to);

/// matmul or linear of plain tensors or FRACTAL_NZ, with both factors packed in fp32 and tiles of
/// 64 rows and columns. With few rows the second factor is used as loaded. Products are added in
/// fp32 in the order of k, for any number of threads.
Launch packed_matmul(const Problem& problem, LoadFactor load);

/// The bytes of the packed factors.
std::size_t packed_matmul_bytes(const Problem& problem, LoadFactor load);

/// Transposes up to 16 rows of `columns` elements, `apart` elements apart: columns begin at `to`
/// and are `pitch` elements apart.
void transpose_rows(const float* rows, std::int64_t count, std::int64_t columns, std::int64_t apart,
                    std::int64_t pitch, float* to);

/// Columns of a block of rows that are loaded side by side; they fit into the L1 cache.
inline constexpr std::int64_t kLoadedColumns = 256;

/// Consecutive matrices [rows, columns], plain or in FRACTAL_NZ.
struct Matrices {
  DType dtype;
  std::int64_t rows, columns;
  bool is_fractal;
  LoadFactor load_elements;

  Matrices(const TensorDesc& desc, LoadFactor load_factor)
      : dtype(desc.dtype),
        rows(desc.shape[desc.shape.size() - 2]),
        columns(desc.shape.back()),
        is_fractal(desc.format == Format::FRACTAL_NZ),
        load_elements(load_factor) {}

  std::int64_t matrix_elements() const {
    return is_fractal ? round_up_to_cube(rows) * round_up_to_cube(columns) : rows * columns;
  }
  /// Calls use(column, width, rows, apart) for parts of the rows [row, row + count), at most a
  /// block of the cube: `width` columns from `column` on, in fp32, with rows `apart` elements
  /// apart. [begin, end) is whole blocks of columns.
  template <class Use>
  void load(const void* from, std::int64_t matrix, std::int64_t row, std::int64_t count,
            std::int64_t begin, std::int64_t end, Use use) const {
    const std::int64_t first = matrix * matrix_elements();
    // Rows that are a multiple of 4 KiB apart would share lines of one cache set.
    constexpr std::int64_t kApart = kLoadedColumns + kCube;
    float values[kCube * kApart];
    for (std::int64_t column = begin; column < end; column += is_fractal ? kCube : kLoadedColumns) {
      if (is_fractal) {
        const std::int64_t offset = first + column * round_up_to_cube(rows) + row * kCube;
        load_elements(dtype, at(from, dtype, offset), count * kCube, values);
        use(column, std::min(kCube, end - column), values, kCube);
        continue;
      }
      const std::int64_t width = std::min(kLoadedColumns, end - column);
      for (std::int64_t r = 0; r < count; ++r) {
        const std::int64_t offset = first + (row + r) * columns + column;
        load_elements(dtype, at(from, dtype, offset), width, values + r * kApart);
      }
      use(column, width, values, kApart);
    }
  }
  template <class Use>
  void load(const void* from, std::int64_t matrix, std::int64_t row, std::int64_t count,
            Use use) const {
    load(from, matrix, row, count, 0, columns, use);
  }
  /// Stores columns [begin, end) of a row from `from`; begin is a multiple of a block.
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

}  // namespace opbench
