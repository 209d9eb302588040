#pragma once

#include <cstdint>

namespace opbench {

/// A product of fp32 matrices, row-major, rows `lda`, `ldb`, `ldc` elements apart.
struct Gemm {
  std::int64_t m, n, k;
  std::int64_t lda, ldb, ldc;
};

/// Where the factors' elements lie if not in rows at one distance, as with the windows of a
/// convolution: a[i, p] at row[i] + term[p] and row p of b at right[p], in elements.
struct GemmPlaces {
  const std::int64_t *row, *term, *right;
};

/// c[m, n] = a[m, k] * b[k, n], or c += a * b with `accumulate`: one thread, products added in the
/// order of k, whatever the vector width; fused where the instruction set has it (avx2, avx3). n is
/// a multiple of 16.
void gemm(const Gemm& shape, const float* a, const float* b, float* c, bool accumulate = false);

/// The same of elements at `places`; lda and ldb say nothing.
void gemm_at(const Gemm& shape, const GemmPlaces& places, const float* a, const float* b, float* c,
             bool accumulate = false);

}  // namespace opbench
