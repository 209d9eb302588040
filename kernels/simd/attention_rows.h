#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

// Rows of scores in fp32, on one thread. Sums have 64 lanes (kernels/simd/row_sums.h), so that
// every instruction set gives the same bits.

/// x *= factor; returns the greatest, -Inf without elements.
float scale_scores(float* x, std::int64_t count, float factor);

/// x = exp(x - greatest), at most 1; returns the sum.
float exp_of_scores(float* x, std::int64_t count, float greatest);

/// x = exp(x - greatest)*factor, for numbers that are not much above `greatest`.
void shares_of_scores(float* x, std::int64_t count, float greatest, float factor);

/// x *= factor.
void scale_row(float* x, std::int64_t count, float factor);

/// ds = p*(dp - delta), in place of dp.
void gradient_of_scores(const float* p, float* dp, std::int64_t count, float delta);

/// The sum of a[i]*b[i].
float sum_of_products(const float* a, const float* b, std::int64_t count);

/// Rows of keys or values: `count` rows of `size` elements, a multiple of 16, `step` elements
/// apart.
struct KeyLines {
  DType dtype;  // fp32, fp16 or bf16
  const void* first;
  std::int64_t count, size, step;
};

/// scores[r * apart + k] = query r times key k, for a few queries, `size` elements apart.
void scores_of_few(const float* queries, std::int64_t rows, const KeyLines& keys,
                   std::int64_t apart, float* scores);

/// Row r of sums, `size` elements apart, += the sum of shares[r * apart + k] times value k, in the
/// order of k.
void add_values_of_few(const float* shares, std::int64_t rows, const KeyLines& values,
                       std::int64_t apart, float* sums);

/// Rounds to the values of `dtype`, half away from zero, like CAST_ROUND of the device; fp32 stays.
void round_away(DType dtype, float* x, std::int64_t count);

}  // namespace opbench
