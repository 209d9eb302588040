#pragma once

#include <cstdint>

#include "kernels/simd/gemm.h"

namespace opbench {

// Products of bf16 in words of four bytes with two terms each, the earlier one in the lower half.
// With an odd number of terms, the last word ends with a 0.

/// True if the instruction set in use multiplies such words (AVX512-BF16). The functions below need
/// it.
bool has_pair_product();

/// c = a*b or c += a*b like gemm, with sums in fp32. Row i of a has its terms side by side; word j
/// of row p of b has terms 2p and 2p + 1 of column j. k, lda and ldb count words.
void pair_product(const Gemm& shape, const void* a, const void* b, float* c,
                  bool accumulate = false);

/// Rows of b from rows of terms: `count` rows of `columns` elements, `apart` elements apart. Rows
/// of words are `pitch` words apart; columns up to a multiple of 16 become 0.
void interleave_rows(const void* rows, std::int64_t count, std::int64_t columns, std::int64_t apart,
                     std::int64_t pitch, void* to);

/// Rows of a from `rows` rows of `count` fp32 numbers, `apart` elements apart, that are bf16. Rows
/// of words are `pitch` words apart.
void narrow_rows(const float* from, std::int64_t rows, std::int64_t count, std::int64_t apart,
                 std::int64_t pitch, void* to);

}  // namespace opbench
