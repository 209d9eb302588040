#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/attention_rows.cc"
#include "kernels/simd/attention_rows.h"

#include <hwy/foreach_target.h>

#include "kernels/softmax-inl.h"
#include "tensor/half.h"

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

template <int kRows, class T>
void few_scores(const float* queries, const KeyLines& keys, const T* from, std::int64_t apart,
                float* scores) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t k = 0; k < keys.count; ++k, from += keys.step) {
    hn::Vec<SumVector> sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
    for (std::int64_t i = 0; i < keys.size; i += n) {
      const auto x = load_as(d, from + i);
      for (int r = 0; r < kRows; ++r) {
        sums[r] = hn::MulAdd(hn::LoadU(d, queries + r * keys.size + i), x, sums[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) scores[r * apart + k] = sum_of_halves(d, sums[r]);
  }
}

// kVectors vectors of the sums of kRows rows stay in registers.
template <int kRows, int kVectors, class T>
void add_vectors(const float* shares, const KeyLines& values, const T* from, std::int64_t apart,
                 float* to) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<SumVector> sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::LoadU(d, to + r * values.size + v * n);
  }
  for (std::int64_t k = 0; k < values.count; ++k, from += values.step) {
    hn::Vec<SumVector> share[kRows];
    for (int r = 0; r < kRows; ++r) share[r] = hn::Set(d, shares[r * apart + k]);
    for (int v = 0; v < kVectors; ++v) {
      const auto x = load_as(d, from + v * n);
      for (int r = 0; r < kRows; ++r) sums[r][v] = hn::MulAdd(share[r], x, sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, to + r * values.size + v * n);
  }
}

template <int kRows, int kVectors, class T>
void few_values(const float* shares, const KeyLines& values, const T* from, std::int64_t apart,
                float* sums) {
  const auto n = static_cast<std::int64_t>(hn::Lanes(SumVector()));
  std::int64_t i = 0;
  for (; i + kVectors * n <= values.size; i += kVectors * n) {
    add_vectors<kRows, kVectors>(shares, values, from + i, apart, sums + i);
  }
  for (; i < values.size; i += n) {
    add_vectors<kRows, 1>(shares, values, from + i, apart, sums + i);
  }
}

void few_rows_of_scores(const float* queries, std::int64_t rows, const KeyLines& keys,
                        std::int64_t apart, float* scores) {
  visit_arithmetic(keys.dtype, [&](auto tag) {
    const auto* const from = static_cast<const decltype(tag)*>(keys.first);
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      few_scores<4>(queries + r * keys.size, keys, from, apart, scores + r * apart);
    }
    for (; r < rows; ++r) {
      few_scores<1>(queries + r * keys.size, keys, from, apart, scores + r * apart);
    }
  });
}

void few_rows_of_values(const float* shares, std::int64_t rows, const KeyLines& values,
                        std::int64_t apart, float* sums) {
  visit_arithmetic(values.dtype, [&](auto tag) {
    const auto* const from = static_cast<const decltype(tag)*>(values.first);
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      few_values<4, 2>(shares + r * apart, values, from, apart, sums + r * values.size);
    }
    for (; r < rows; ++r) {
      few_values<1, 8>(shares + r * apart, values, from, apart, sums + r * values.size);
    }
  });
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

HWY_EXPORT(few_rows_of_scores);
HWY_EXPORT(few_rows_of_values);
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

void scores_of_few(const float* queries, std::int64_t rows, const KeyLines& keys,
                   std::int64_t apart, float* scores) {
  HWY_DYNAMIC_DISPATCH(few_rows_of_scores)(queries, rows, keys, apart, scores);
}

void add_values_of_few(const float* shares, std::int64_t rows, const KeyLines& values,
                       std::int64_t apart, float* sums) {
  HWY_DYNAMIC_DISPATCH(few_rows_of_values)(shares, rows, values, apart, sums);
}

void round_away(DType dtype, float* x, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(round_row)(dtype, x, count);
}

}  // namespace opbench
#endif  // HWY_ONCE
