#pragma once

#include <cstdint>

#include "kernels/simd/gemm.h"
#include "tensor/dtype.h"

namespace opbench {

/// Factors of products of tiles in words of four bytes: an fp32 number, or a pair of bf16
/// (kernels/simd/pair_product.h). Sums are in fp32.
struct TileFactors {
  bool in_pairs = false;

  /// Pairs for bf16, if the instruction set in use multiplies these.
  static TileFactors of(DType dtype);

  /// Words of a row of `count` terms.
  std::int64_t words(std::int64_t count) const { return in_pairs ? (count + 1) / 2 : count; }

  /// Loads a row of `count` elements of fp32, fp16 or bf16; pairs: of bf16. `first` elements are
  /// before them in the row, for pairs an even number.
  void load(DType dtype, const void* from, std::int64_t count, float* row,
            std::int64_t first = 0) const;

  /// A left factor from `rows` rows of `count` fp32 numbers, `apart` elements apart; for pairs they
  /// are bf16. Rows of the result are `pitch` words apart.
  struct Left {
    const float* words;
    std::int64_t pitch;
  };
  Left left(const float* from, std::int64_t rows, std::int64_t count, std::int64_t apart,
            float* memory) const;

  /// The transposed left factor: `count` rows of `rows` terms.
  Left left_transposed(const Left& left, std::int64_t rows, std::int64_t count,
                       float* memory) const;

  /// A right factor from `count` loaded rows that are `pitch` words long. Columns are their terms.
  const float* right(const float* rows, std::int64_t count, std::int64_t pitch,
                     float* memory) const;

  /// c = a*b or c += a*b. k, lda and ldb count words.
  void multiply(const Gemm& shape, const float* a, const float* b, float* c,
                bool accumulate = false) const;
};

}  // namespace opbench
