#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// The lanes of a row's sum, for every vector width: element i is added to lane i % 64 in order,
/// then the upper half of the lanes to the lower half until one is left. Every instruction set
/// gives the same bits.
inline constexpr std::size_t kSumLanes = 64;

/// `rows` rows of `count` elements of fp32, fp16 or bf16, `step` elements apart.
struct SummedRows {
  DType dtype;
  const void* x;
  std::int64_t rows, count, step;
};

/// sums[r] = the sum of scale*x[r][i] over i, in fp32, on one thread.
void sum_rows(const SummedRows& of, float scale, float* sums);

/// best[r] = the greatest of x[r][i] over i, or the least; NaN if there is one. Rows are not empty.
void extreme_rows(const SummedRows& of, bool greatest, float* best);

/// sums[i] += scale*x[r][i], row by row, on one thread.
void add_rows(const SummedRows& of, float scale, float* sums);

/// lanes[i % 64] += scale*x[i] for `count` elements.
void add_to_sum_lanes(DType dtype, const void* x, std::int64_t count, float scale, float* lanes);

/// sums[r] = the sum of x[r][i] over i in fp64, in 32 lanes in the same order.
void sum_rows_in_fp64(const SummedRows& of, double* sums);

}  // namespace opbench
