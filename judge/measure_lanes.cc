#include "judge/measure_lanes.h"

#include <cfloat>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "judge/measure_lanes.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include "judge/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

// Counts and compares stored values.
template <class T>
struct RangeLanes {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  V actual_min, actual_max, expected_min, expected_max;
  std::size_t actual_zeros = 0, expected_zeros = 0, unequal = 0;

  HWY_INLINE RangeLanes(T actual, T expected) {
    actual_min = actual_max = hn::Set(D(), actual);
    expected_min = expected_max = hn::Set(D(), expected);
  }

  HWY_INLINE void step(const T* actual, const T* expected, bool is_whole) {
    for (std::size_t i = 0; i < hn::Lanes(F32()); i += hn::Lanes(D())) {
      const V a = hn::LoadU(D(), actual + i), e = hn::LoadU(D(), expected + i);
      actual_zeros += hn::CountTrue(D(), hn::Eq(a, hn::Zero(D())));
      expected_zeros += hn::CountTrue(D(), hn::Eq(e, hn::Zero(D())));
      unequal += hn::CountTrue(D(), hn::Ne(a, e));
      if (!is_whole) continue;
      actual_min = hn::Min(actual_min, a);
      actual_max = hn::Max(actual_max, a);
      expected_min = hn::Min(expected_min, e);
      expected_max = hn::Max(expected_max, e);
    }
  }

  HWY_INLINE void add_to(BlockNumbers& numbers, std::size_t padding) const {
    numbers.actual_min = smallest_lane(D(), actual_min);
    numbers.actual_max = largest_lane(D(), actual_max);
    numbers.expected_min = smallest_lane(D(), expected_min);
    numbers.expected_max = largest_lane(D(), expected_max);
    numbers.actual_zeros = static_cast<std::int64_t>(actual_zeros - padding);
    numbers.expected_zeros = static_cast<std::int64_t>(expected_zeros - padding);
    numbers.unequal = static_cast<std::int64_t>(unequal);
  }
};

// msaccucmp's relative errors.
struct QuotientLanes {
  VF64 sum;
  VF32 max;

  HWY_INLINE QuotientLanes() {
    sum = hn::Zero(F64());
    max = hn::Zero(F32());
  }

  HWY_INLINE void step(VF32 x, VF32 y) {
    const VF32 rel = hn::Abs(hn::Sub(hn::Div(x, y), hn::Set(F32(), 1.0F)));
    const auto counts = hn::Gt(hn::Abs(y), hn::Set(F32(), 0x1p-52F));
    const VF32 counted = hn::IfThenElseZero(counts, rel);
    max = hn::Max(max, counted);
    VF64 both = half_of<0>(counted);
    if constexpr (kHalves == 2) both = hn::Add(both, half_of<1>(counted));
    sum = hn::Add(sum, both);
  }
};

// Sums and compares errors in fp64. One accumulator for each is enough: a step has so many
// instructions that none waits for the previous sum.
template <class T>
struct ErrorLanes {
  const VF64 smallest, scale, rtol, atol, limit, limit_share, limit_ulp;
  VF64 actual, expected, actual_sq, expected_sq, product, expected_abs;
  VF64 error, error_sq, rel, max_error, max_rel, min_tolerance, max_ulp, sum_ulp;
  std::size_t inside = 0, beyond = 0;

  HWY_INLINE explicit ErrorLanes(const PairRules& rules)
      : smallest(number(rules.smallest)),
        scale(number(rules.scale)),
        rtol(number(rules.tolerance.rtol)),
        atol(number(rules.tolerance.atol)),
        limit(number(rules.tolerance.limit)),
        limit_share(number(rules.tolerance.limit_share)),
        limit_ulp(number(rules.tolerance.limit_ulp)) {
    actual = expected = actual_sq = expected_sq = product = expected_abs = hn::Zero(F64());
    error = error_sq = rel = max_error = max_rel = hn::Zero(F64());
    min_tolerance = max_ulp = sum_ulp = hn::Zero(F64());
  }

  HWY_INLINE VF64 step(VF64 a, VF64 e, bool has_units, VF64 units) {
    const VF64 difference = hn::Abs(hn::Sub(a, e)), size = hn::Abs(e);
    actual = hn::Add(actual, a);
    expected = hn::Add(expected, e);
    expected_abs = hn::Add(expected_abs, size);
    actual_sq = hn::MulAdd(a, a, actual_sq);
    expected_sq = hn::MulAdd(e, e, expected_sq);
    product = hn::MulAdd(a, e, product);
    error = hn::Add(error, difference);
    error_sq = hn::MulAdd(difference, difference, error_sq);
    max_error = hn::Max(max_error, difference);
    const VF64 ratio = relative(difference, size);
    rel = hn::Add(rel, ratio);
    max_rel = hn::Max(max_rel, ratio);
    // The divisor must not be 0; the quotient is 0 if there is no error.
    const VF64 divisor = hn::Max(hn::Add(scale, size), number(DBL_MIN));
    min_tolerance = hn::Max(min_tolerance, hn::Div(difference, divisor));
    // Not fused, so the same elements are inside with every instruction set.
    const VF64 bound = hn::Add(hn::Mul(size, rtol), atol);
    inside += hn::CountTrue(F64(), hn::Le(difference, bound));
    const VF64 ulp = has_units ? units : difference;
    max_ulp = hn::Max(max_ulp, ulp);
    sum_ulp = hn::Add(sum_ulp, ulp);
    const VF64 most = hn::Max(limit, hn::Mul(limit_share, hn::Min(size, number(1))));
    beyond += hn::CountTrue(F64(), hn::And(hn::Gt(difference, most), hn::Gt(ulp, limit_ulp)));
    return difference;
  }

  HWY_INLINE VF64 relative(VF64 difference, VF64 size) const {
    const VF64 divisor = hn::Max(size, smallest);
    if constexpr (std::is_same_v<T, double>) return hn::Div(difference, divisor);
    return hn::Mul(difference, reciprocal<T>(divisor));
  }

  HWY_INLINE void add_to(BlockNumbers& numbers, std::size_t padding) const {
    numbers.actual = sum_of(actual);
    numbers.expected = sum_of(expected);
    numbers.actual_sq = sum_of(actual_sq);
    numbers.expected_sq = sum_of(expected_sq);
    numbers.product = sum_of(product);
    numbers.expected_abs = sum_of(expected_abs);
    numbers.error = sum_of(error);
    numbers.error_sq = sum_of(error_sq);
    numbers.rel = sum_of(rel);
    numbers.max_error = largest_lane(F64(), max_error);
    numbers.max_rel = largest_lane(F64(), max_rel);
    numbers.min_tolerance = largest_lane(F64(), min_tolerance);
    numbers.max_ulp = largest_lane(F64(), max_ulp);
    numbers.sum_ulp = sum_of(sum_ulp);
    numbers.inside = static_cast<std::int64_t>(inside - padding);
    numbers.beyond = static_cast<std::int64_t>(beyond);
  }
};

// The loop over both sides, with as many elements at a time as fp32 has lanes.
template <class T>
BlockNumbers numbers_of(const PairRules& rules, const BlockValues<T>& values) {
  const std::size_t lanes = hn::Lanes(F32()), count = values.count;
  const bool has_units = values.has_units, wants_quotients = values.wants_quotients;
  const DType dtype = rules.common;
  RangeLanes<T> ranges(values.actual[0], values.expected[0]);
  ErrorLanes<T> errors(rules);
  QuotientLanes quotients;
  ExponentCounts exponents;
  const auto step = [&](std::size_t i, const T* a, const T* e, const float* fa,
                        const float* fe) HWY_ATTR {
    // Zeros that pad the last vector must not count in a range.
    ranges.step(a, e, i + lanes <= count);
    const VF32 va = hn::LoadU(F32(), fa), ve = hn::LoadU(F32(), fe);
    if (wants_quotients) quotients.step(va, ve);
    VI32 units = hn::Zero(I32());
    if (has_units) units = units_apart(dtype, va, ve);
    exponents.add(errors.step(doubles(a), doubles(e), has_units, units_of<0>(units)));
    if constexpr (kHalves == 2) {
      a += hn::Lanes(F64()), e += hn::Lanes(F64());
      exponents.add(errors.step(doubles(a), doubles(e), has_units, units_of<1>(units)));
    }
  };
  const std::size_t padding = for_each_vector(lanes, count, values.actual, values.expected,
                                              values.actual_floats, values.expected_floats, step);
  BlockNumbers numbers;
  ranges.add_to(numbers, padding);
  for (std::size_t i = count - count % lanes; i < count; ++i) {
    const double a = values.actual[i], e = values.expected[i];
    numbers.actual_min = std::min(numbers.actual_min, a);
    numbers.actual_max = std::max(numbers.actual_max, a);
    numbers.expected_min = std::min(numbers.expected_min, e);
    numbers.expected_max = std::max(numbers.expected_max, e);
  }
  errors.add_to(numbers, padding);
  exponents.add_to(numbers.histogram);
  numbers.histogram[0] -= static_cast<std::int64_t>(padding);
  numbers.quotient_sum = sum_of(quotients.sum);
  numbers.quotient_max = largest_lane(F32(), quotients.max);
  return numbers;
}

BlockNumbers float_numbers(const PairRules& rules, const BlockValues<float>& values) {
  return numbers_of(rules, values);
}

BlockNumbers double_numbers(const PairRules& rules, const BlockValues<double>& values) {
  return numbers_of(rules, values);
}

double spread_of(double mean, std::size_t count, const float* values) {
  const std::size_t lanes = hn::Lanes(F64());
  VF64 squares = hn::Zero(F64());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF64 distance = hn::Sub(doubles(values + i), number(mean));
    squares = hn::MulAdd(distance, distance, squares);
  }
  double sum = sum_of(squares);
  for (; i < count; ++i) sum += (values[i] - mean) * (values[i] - mean);
  return sum;
}

HWY_INLINE VF64 normalised(const KlScale& scale, VF64 value) {
  const VF64 spread = hn::Mul(hn::Sub(value, number(scale.shift)), number(scale.scale));
  return hn::Max(spread, number(0x1p-23));
}

KlSums kl_sums(const KlScales& scales, std::size_t count, const float* x, const float* y) {
  const std::size_t lanes = hn::Lanes(F64());
  VF64 sum_x = hn::Zero(F64()), sum_y = sum_x, sum_log = sum_x;
  const auto step = [&](std::size_t i, const float* a, const float* b, const float*,
                        const float*) HWY_ATTR {
    VF64 p = normalised(scales.x, doubles(a)), q = normalised(scales.y, doubles(b));
    VF64 term = hn::Mul(p, log_quotient(p, q));
    if (i + lanes > count) {
      const auto is_real = hn::FirstN(F64(), count - i);
      p = hn::IfThenElseZero(is_real, p);
      q = hn::IfThenElseZero(is_real, q);
      term = hn::IfThenElseZero(is_real, term);
    }
    sum_x = hn::Add(sum_x, p);
    sum_y = hn::Add(sum_y, q);
    sum_log = hn::Add(sum_log, term);
  };
  for_each_vector(lanes, count, x, y, x, y, step);
  return {sum_of(sum_x), sum_of(sum_y), sum_of(sum_log)};
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace opbench {

HWY_EXPORT(float_numbers);
HWY_EXPORT(double_numbers);
HWY_EXPORT(spread_of);
HWY_EXPORT(kl_sums);

BlockNumbers block_numbers(const PairRules& rules, const BlockValues<float>& values) {
  return HWY_DYNAMIC_DISPATCH(float_numbers)(rules, values);
}

BlockNumbers block_numbers(const PairRules& rules, const BlockValues<double>& values) {
  return HWY_DYNAMIC_DISPATCH(double_numbers)(rules, values);
}

double block_spread(double mean, std::size_t count, const float* values) {
  return HWY_DYNAMIC_DISPATCH(spread_of)(mean, count, values);
}

KlSums block_kl(const KlScales& scales, std::size_t count, const float* x, const float* y) {
  return HWY_DYNAMIC_DISPATCH(kl_sums)(scales, count, x, y);
}

}  // namespace opbench

#endif  // HWY_ONCE
