#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/gemm.cc"
#include "kernels/lanes/gemm.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

// Four rows of c, kVectors vectors of each: twelve sums in flight hide the latency of a
// multiply-add. Rows past the last are the last again: computed and written twice, the same.
template <int kVectors>
void panel(const Gemm& s, std::int64_t row, const float* a, const float* b, float* c,
           bool accumulate) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t last = s.m - 1;
  const std::int64_t r1 = std::min(row + 1, last), r2 = std::min(row + 2, last),
                     r3 = std::min(row + 3, last);
  const float *a0 = a + row * s.lda, *a1 = a + r1 * s.lda, *a2 = a + r2 * s.lda,
              *a3 = a + r3 * s.lda;
  float *c0 = c + row * s.ldc, *c1 = c + r1 * s.ldc, *c2 = c + r2 * s.ldc, *c3 = c + r3 * s.ldc;
  const V zero = hn::Zero(d);
  const auto start = [&](const float* from)
                         HWY_ATTR { return accumulate ? hn::LoadU(d, from) : zero; };
  V s00 = start(c0), s10 = start(c1), s20 = start(c2), s30 = start(c3);
  V s01 = zero, s11 = zero, s21 = zero, s31 = zero;
  V s02 = zero, s12 = zero, s22 = zero, s32 = zero;
  if constexpr (kVectors > 1) {
    s01 = start(c0 + lanes), s11 = start(c1 + lanes), s21 = start(c2 + lanes),
    s31 = start(c3 + lanes);
  }
  if constexpr (kVectors > 2) {
    s02 = start(c0 + 2 * lanes), s12 = start(c1 + 2 * lanes), s22 = start(c2 + 2 * lanes),
    s32 = start(c3 + 2 * lanes);
  }
  for (std::int64_t p = 0; p < s.k; ++p, b += s.ldb) {
    const V x0 = hn::Set(d, a0[p]), x1 = hn::Set(d, a1[p]), x2 = hn::Set(d, a2[p]),
            x3 = hn::Set(d, a3[p]);
    const V y0 = hn::LoadU(d, b);
    s00 = hn::MulAdd(x0, y0, s00), s10 = hn::MulAdd(x1, y0, s10);
    s20 = hn::MulAdd(x2, y0, s20), s30 = hn::MulAdd(x3, y0, s30);
    if constexpr (kVectors > 1) {
      const V y1 = hn::LoadU(d, b + lanes);
      s01 = hn::MulAdd(x0, y1, s01), s11 = hn::MulAdd(x1, y1, s11);
      s21 = hn::MulAdd(x2, y1, s21), s31 = hn::MulAdd(x3, y1, s31);
    }
    if constexpr (kVectors > 2) {
      const V y2 = hn::LoadU(d, b + 2 * lanes);
      s02 = hn::MulAdd(x0, y2, s02), s12 = hn::MulAdd(x1, y2, s12);
      s22 = hn::MulAdd(x2, y2, s22), s32 = hn::MulAdd(x3, y2, s32);
    }
  }
  hn::StoreU(s00, d, c0), hn::StoreU(s10, d, c1), hn::StoreU(s20, d, c2), hn::StoreU(s30, d, c3);
  if constexpr (kVectors > 1) {
    hn::StoreU(s01, d, c0 + lanes), hn::StoreU(s11, d, c1 + lanes);
    hn::StoreU(s21, d, c2 + lanes), hn::StoreU(s31, d, c3 + lanes);
  }
  if constexpr (kVectors > 2) {
    hn::StoreU(s02, d, c0 + 2 * lanes), hn::StoreU(s12, d, c1 + 2 * lanes);
    hn::StoreU(s22, d, c2 + 2 * lanes), hn::StoreU(s32, d, c3 + 2 * lanes);
  }
}

template <int kVectors>
void columns(const Gemm& s, std::int64_t column, const float* a, const float* b, float* c,
             bool accumulate) {
  for (std::int64_t row = 0; row < s.m; row += 4) {
    panel<kVectors>(s, row, a, b + column, c + column, accumulate);
  }
}

}  // namespace

// Panels of three vectors; four that are left are two twos rather than three and one.
void multiply(const Gemm& s, const float* a, const float* b, float* c, bool accumulate) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  for (std::int64_t column = 0; column < s.n;) {
    const std::int64_t left = (s.n - column) / lanes;
    if (left == 1) {
      columns<1>(s, column, a, b, c, accumulate);
      column += lanes;
    } else if (left == 2 || left == 4) {
      columns<2>(s, column, a, b, c, accumulate);
      column += 2 * lanes;
    } else {
      columns<3>(s, column, a, b, c, accumulate);
      column += 3 * lanes;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(multiply);

void gemm(const Gemm& shape, const float* a, const float* b, float* c, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply)(shape, a, b, c, accumulate);
}

}  // namespace opbench
#endif  // HWY_ONCE
