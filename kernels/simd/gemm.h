#pragma once

#include <cstdint>

namespace opbench {

/// A product of row-major fp32 matrices with rows `lda`, `ldb`, `ldc` elements apart.
struct Gemm {
  std::int64_t m, n, k;
  std::int64_t lda, ldb, ldc;
};

/// The places of the factors' elements if rows are not equally spaced, as with the windows of a
/// convolution: a[i, p] is at row[i] + term[p], and row p of b at right[p], in elements.
struct GemmPlaces {
  const std::int64_t *row, *term, *right;
};

/// c[m, n] = a[m, k] * b[k, n], or c += a * b with `accumulate`, on one thread. Products are added
/// in the order of k for every vector width, and fused if the instruction set supports it (avx2,
/// avx3). n is a multiple of 16.
void gemm(const Gemm& shape, const float* a, const float* b, float* c, bool accumulate = false);

/// Like gemm, for elements at `places`; lda and ldb are ignored.
void gemm_at(const Gemm& shape, const GemmPlaces& places, const float* a, const float* b, float* c,
             bool accumulate = false);

}  // namespace opbench
