#include "kernels/simd/tile_factors.h"

#include <cstring>

#include "kernels/copy/plane.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/pair_product.h"

namespace opbench {

TileFactors TileFactors::of(DType dtype) { return {dtype == DType::bf16 && has_pair_product()}; }

void TileFactors::load(DType dtype, const void* from, std::int64_t count, float* row,
                       std::int64_t first) const {
  if (!in_pairs) return load_floats(dtype, from, count, row + first);
  float* const to = row + first / 2;
  if (count % 2 != 0) to[count / 2] = 0;
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
}

TileFactors::Left TileFactors::left(const float* from, std::int64_t rows, std::int64_t count,
                                    std::int64_t apart, float* memory) const {
  if (!in_pairs) return {from, apart};
  const std::int64_t pitch = round_up_to_cube(words(count));
  narrow_rows(from, rows, count, apart, pitch, memory);
  return {memory, pitch};
}

TileFactors::Left TileFactors::left_transposed(const Left& left, std::int64_t rows,
                                               std::int64_t count, float* memory) const {
  const std::int64_t terms = in_pairs ? 2 : 1, pitch = round_up_to_cube(words(rows));
  transpose_plane({static_cast<int>(sizeof(float) / terms), count, words(rows) * terms,
                   left.pitch * terms, pitch * terms, count, rows},
                  left.words, memory, false);
  return {memory, pitch};
}

const float* TileFactors::right(const float* rows, std::int64_t count, std::int64_t pitch,
                                float* memory) const {
  if (!in_pairs) return rows;
  interleave_rows(rows, count, 2 * pitch, 2 * pitch, 2 * pitch, memory);
  return memory;
}

void TileFactors::multiply(const Gemm& shape, const float* a, const float* b, float* c,
                           bool accumulate) const {
  if (in_pairs) return pair_product(shape, a, b, c, accumulate);
  gemm(shape, a, b, c, accumulate);
}

}  // namespace opbench
