#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/gemm.cc"
#include "kernels/simd/gemm.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "tensor/processor.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

// The limit of rows of a panel. With a vector of a and those of b its sums fill the registers: 32
// with avx3, 16 with others.
constexpr int kTallest = HWY_TARGET <= HWY_AVX3 ? 8 : 4;

// Terms [first, first + count) of a product with factors in rows.
struct InRows {
  const float *a, *b;
  std::int64_t lda, ldb;

  HWY_INLINE InRows at(std::int64_t row, std::int64_t column, std::int64_t term) const {
    return {a + row * lda + term, b + term * ldb + column, lda, ldb};
  }
  HWY_INLINE const float* row(std::int64_t i) const { return a + i * lda; }
  HWY_INLINE std::int64_t term(std::int64_t p) const { return p; }
  HWY_INLINE const float* right(std::int64_t p) const { return b + p * ldb; }
};

// Terms of a product with factors at places.
struct AtPlaces {
  const float *a, *b;
  GemmPlaces places;

  HWY_INLINE AtPlaces at(std::int64_t row, std::int64_t column, std::int64_t term) const {
    return {a, b + column, {places.row + row, places.term + term, places.right + term}};
  }
  HWY_INLINE const float* row(std::int64_t i) const { return a + places.row[i]; }
  HWY_INLINE std::int64_t term(std::int64_t p) const { return places.term[p]; }
  HWY_INLINE const float* right(std::int64_t p) const { return b + places.right[p]; }
};

// kRows rows of c with kVectors vectors each: a dozen sums in flight hide the latency of a
// multiply-add. Rows past the last repeat the last row, which is then written twice.
template <int kRows, int kVectors, class Factors>
void panel(std::int64_t rows, std::int64_t terms, const Factors& factors, std::int64_t ldc,
           float* c, bool accumulate) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* left[kRows];
  float* to[kRows];
  V sums[kRows][kVectors];
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = std::min<std::int64_t>(i, rows - 1);
    left[i] = factors.row(row);
    to[i] = c + row * ldc;
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = accumulate ? hn::LoadU(d, to[i] + v * lanes) : hn::Zero(d);
    }
  }
  for (std::int64_t p = 0; p < terms; ++p) {
    const float* const b = factors.right(p);
    const std::int64_t term = factors.term(p);
    V right[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
    HWY_UNROLL(8)
    for (int i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, left[i][term]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(factor, right[v], sums[i][v]);
    }
  }
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], d, to[i] + v * lanes);
  }
}

// kVectors vectors of every row. It takes so many terms at a time that their part of b stays in the
// first-level cache, from where every panel reads it.
template <int kVectors, class Factors>
void columns(const Gemm& s, const Factors& factors, std::int64_t column, float* c,
             bool accumulate) {
  static const auto cache = static_cast<std::int64_t>(first_cache_bytes() / sizeof(float));
  const auto width = kVectors * static_cast<std::int64_t>(hn::Lanes(D()));
  const std::int64_t most = std::max<std::int64_t>(16, cache / 2 / width);
  for (std::int64_t first = 0; first == 0 || first < s.k; first += most) {
    const std::int64_t terms = std::min(most, s.k - first);
    const bool adds = accumulate || first > 0;
    std::int64_t row = 0;
    for (; s.m - row > 4; row += kTallest) {
      panel<kTallest, kVectors>(s.m - row, terms, factors.at(row, column, first), s.ldc,
                                c + row * s.ldc + column, adds);
    }
    if (row < s.m) {
      panel<4, kVectors>(s.m - row, terms, factors.at(row, column, first), s.ldc,
                         c + row * s.ldc + column, adds);
    }
  }
}

// Panels of three vectors; a remainder of four is two pairs instead of three and one.
template <class Factors>
void multiply(const Gemm& s, const Factors& factors, float* c, bool accumulate) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  for (std::int64_t column = 0; column < s.n;) {
    const std::int64_t left = (s.n - column) / lanes;
    if (left == 1) {
      columns<1>(s, factors, column, c, accumulate);
      column += lanes;
    } else if (left == 2 || left == 4) {
      columns<2>(s, factors, column, c, accumulate);
      column += 2 * lanes;
    } else {
      columns<3>(s, factors, column, c, accumulate);
      column += 3 * lanes;
    }
  }
}

}  // namespace

void multiply_rows(const Gemm& s, const float* a, const float* b, float* c, bool accumulate) {
  multiply(s, InRows{a, b, s.lda, s.ldb}, c, accumulate);
}

void multiply_at(const Gemm& s, const GemmPlaces& places, const float* a, const float* b, float* c,
                 bool accumulate) {
  multiply(s, AtPlaces{a, b, places}, c, accumulate);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(multiply_rows);
HWY_EXPORT(multiply_at);

void gemm(const Gemm& shape, const float* a, const float* b, float* c, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply_rows)(shape, a, b, c, accumulate);
}

void gemm_at(const Gemm& shape, const GemmPlaces& places, const float* a, const float* b, float* c,
             bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply_at)(shape, places, a, b, c, accumulate);
}

}  // namespace opbench
#endif  // HWY_ONCE
