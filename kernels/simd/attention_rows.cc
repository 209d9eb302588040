#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/attention_rows.cc"
#include "kernels/simd/attention_rows.h"

#include <hwy/foreach_target.h>

#include "kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct ShareOf {
  float greatest, factor;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Mul(ExpFrom{greatest}(d, x), hn::Set(d, factor));
  }
};
struct GradientOfShare {
  float delta;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> p, hn::Vec<D> dp) const {
    return hn::Mul(p, hn::Sub(dp, hn::Set(d, delta)));
  }
};

// The magnitude plus half of the last kept bit, without the bits behind it.
struct AwayToBf16 {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    const hn::RebindToUnsigned<D> du;
    const auto up = hn::Add(hn::BitCast(du, x), hn::Set(du, 0x8000u));
    return hn::BitCast(d, hn::And(up, hn::Set(du, 0xFFFF0000u)));
  }
};
// Below 2^-14 the numbers of fp16 are multiples of 2^-24.
struct AwayToFp16 {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    const hn::RebindToUnsigned<D> du;
    const auto up = hn::Add(hn::BitCast(du, x), hn::Set(du, 0x1000u));
    const auto normal = hn::BitCast(d, hn::And(up, hn::Set(du, 0xFFFFE000u)));
    const auto magnitude = hn::Abs(x);
    const auto steps = hn::MulAdd(magnitude, hn::Set(d, 0x1p24f), hn::Set(d, 0.5f));
    const auto small = hn::CopySign(hn::Mul(hn::Trunc(steps), hn::Set(d, 0x1p-24f)), x);
    return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0x1p-14f)), small, normal);
  }
};

template <int kRows>
void few_scores(const float* queries, const float* from, std::int64_t keys, std::int64_t pitch,
                std::int64_t apart, float* scores) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t k = 0; k < keys; ++k, from += pitch) {
    hn::Vec<SumVector> sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
    for (std::int64_t i = 0; i < pitch; i += n) {
      const auto x = hn::LoadU(d, from + i);
      for (int r = 0; r < kRows; ++r) {
        sums[r] = hn::MulAdd(hn::LoadU(d, queries + r * pitch + i), x, sums[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) scores[r * apart + k] = sum_of_halves(d, sums[r]);
  }
}

void scores_in_groups(const float* queries, std::int64_t rows, const float* from, std::int64_t keys,
                      std::int64_t pitch, std::int64_t apart, float* scores) {
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    few_scores<4>(queries + r * pitch, from, keys, pitch, apart, scores + r * apart);
  }
  for (; r < rows; ++r) {
    few_scores<1>(queries + r * pitch, from, keys, pitch, apart, scores + r * apart);
  }
}

float scale_greatest(float* x, std::int64_t count, float factor) {
  if (factor != 1) map_line(Times{factor}, count, x, x);
  return greatest_of(x, count);
}

float exp_row(float* x, std::int64_t count, float greatest) {
  return exp_and_sum(x, count, greatest, x);
}

void share_row(float* x, std::int64_t count, float greatest, float factor) {
  map_line(ShareOf{greatest, factor}, count, x, x);
}

void times_row(float* x, std::int64_t count, float factor) { map_line(Times{factor}, count, x, x); }

void gradient_row(const float* p, float* dp, std::int64_t count, float delta) {
  map_line(GradientOfShare{delta}, count, dp, p, dp);
}

float product_sum(const float* a, const float* b, std::int64_t count) {
  return lane_sum(Product(), count, a, b);
}

void round_row(DType dtype, float* x, std::int64_t count) {
  if (dtype == DType::bf16) map_line(AwayToBf16(), count, x, x);
  if (dtype == DType::fp16) map_line(AwayToFp16(), count, x, x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(scores_in_groups);
HWY_EXPORT(scale_greatest);
HWY_EXPORT(exp_row);
HWY_EXPORT(share_row);
HWY_EXPORT(times_row);
HWY_EXPORT(gradient_row);
HWY_EXPORT(product_sum);
HWY_EXPORT(round_row);

float scale_scores(float* x, std::int64_t count, float factor) {
  return HWY_DYNAMIC_DISPATCH(scale_greatest)(x, count, factor);
}

float exp_of_scores(float* x, std::int64_t count, float greatest) {
  return HWY_DYNAMIC_DISPATCH(exp_row)(x, count, greatest);
}

void shares_of_scores(float* x, std::int64_t count, float greatest, float factor) {
  HWY_DYNAMIC_DISPATCH(share_row)(x, count, greatest, factor);
}

void scale_row(float* x, std::int64_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(times_row)(x, count, factor);
}

void gradient_of_scores(const float* p, float* dp, std::int64_t count, float delta) {
  HWY_DYNAMIC_DISPATCH(gradient_row)(p, dp, count, delta);
}

float sum_of_products(const float* a, const float* b, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(product_sum)(a, b, count);
}

void scores_of_few(const float* queries, std::int64_t rows, const float* keys_from,
                   std::int64_t keys, std::int64_t pitch, std::int64_t apart, float* scores) {
  HWY_DYNAMIC_DISPATCH(scores_in_groups)(queries, rows, keys_from, keys, pitch, apart, scores);
}

void round_away(DType dtype, float* x, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(round_row)(dtype, x, count);
}

}  // namespace opbench
#endif  // HWY_ONCE
