// Sums over a block in fp64, msaccucmp's relative errors and its KL divergence. Included once per
// target.
// clang-format off
#if defined(OPBENCH_COMPARE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_COMPARE_SUMS_INL_H_
#undef OPBENCH_COMPARE_SUMS_INL_H_
#else
#define OPBENCH_COMPARE_SUMS_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>

#include "judge/block-inl.h"
#include "judge/measure_vector.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

// 1/v for normal fp32 values, within 2^-50. AVX-512's division of 8 doubles takes 16 cycles in
// which nothing else divides; two Newton steps from its approximation of 14 bits take 4.
template <class T>
HWY_INLINE VF64 reciprocal(VF64 v) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (std::is_same_v<T, float>) {
    const VF64 one = number(1);
    VF64 r{_mm512_rcp14_pd(v.raw)};
    r = hn::MulAdd(r, hn::NegMulAdd(v, r, one), r);
    return hn::MulAdd(r, hn::NegMulAdd(v, r, one), r);
  }
#endif
  return hn::Div(number(1), v);
}

// The larger one, `floor` for NaN: what indexes a table must never be one. x86 defines its maximum
// that way.
HWY_INLINE VF64 at_least(VF64 v, VF64 floor) {
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4) {
    return hn::Max(v, floor);
  }
  return hn::IfThenElse(hn::Gt(v, floor), v, floor);
}

// Errors counted by their exponent. Counting is scalar work, which the processor does beside the
// vector work of the next errors: some wait in memory until there are enough of them. Four tables,
// so that one count need not wait for the one before.
class ExponentCounts {
 public:
  HWY_INLINE void add(VF64 error) {
    // The smallest of the first and of the last bucket.
    static_assert(ErrorHistogram::kLowest == -40 && ErrorHistogram::kBuckets == 64);
    const VF64 low = number(0x1p-41), high = number(0x1p22);
    hn::Store(hn::Min(at_least(error, low), high), F64(), waiting_ + waiting_count_);
    waiting_count_ += hn::Lanes(F64());
    if (waiting_count_ < kWaiting) return;
    waiting_count_ = 0;
    for (std::size_t i = 0; i < kWaiting; i += kTables) {
      for (std::size_t table = 0; table < kTables; ++table) count(table, i + table);
    }
  }

  HWY_INLINE void add_to(std::array<std::int64_t, ErrorHistogram::kBuckets>& histogram) {
    for (std::size_t i = 0; i < waiting_count_; ++i) count(0, i);
    for (const auto& table : counts_) {
      for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += table[i];
    }
  }

 private:
  static constexpr std::size_t kTables = 4, kWaiting = 64;
  static constexpr std::uint64_t kFirstExponent = 1023 + ErrorHistogram::kLowest - 1;

  HWY_INLINE void count(std::size_t table, std::size_t i) {
    std::uint64_t bits;
    std::memcpy(&bits, waiting_ + i, sizeof bits);
    ++counts_[table][(bits >> 52) - kFirstExponent];
  }

  alignas(64) double waiting_[kWaiting];
  std::size_t waiting_count_ = 0;
  std::uint32_t counts_[kTables][ErrorHistogram::kBuckets] = {};
};

// The accumulators of block_sums. One of each is enough: a step has so many instructions that none
// waits for the sum before.
template <class T>
struct SumLanes {
  VF64 actual, expected, actual_sq, expected_sq, product, expected_abs;
  VF64 error, error_sq, rel, max_error, max_rel;
  std::size_t inside = 0;

  HWY_INLINE SumLanes() {
    actual = expected = actual_sq = expected_sq = product = expected_abs = hn::Zero(F64());
    error = error_sq = rel = max_error = max_rel = hn::Zero(F64());
  }

  HWY_INLINE VF64 step(const PairRules& rules, VF64 a, VF64 e) {
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
    const VF64 ratio = relative(rules, difference, size);
    rel = hn::Add(rel, ratio);
    max_rel = hn::Max(max_rel, ratio);
    // Not fused: with every instruction set the same ones are inside.
    const VF64 bound =
        hn::Add(hn::Mul(size, number(rules.tolerance.rtol)), number(rules.tolerance.atol));
    inside += hn::CountTrue(F64(), hn::Le(difference, bound));
    return difference;
  }

  HWY_INLINE VF64 relative(const PairRules& rules, VF64 difference, VF64 size) const {
    const VF64 divisor = hn::Max(size, number(rules.smallest));
    if constexpr (std::is_same_v<T, double>) return hn::Div(difference, divisor);
    return hn::Mul(difference, reciprocal<T>(divisor));
  }
};

template <class T>
BlockSums sums_of(const PairRules& rules, std::size_t count, const T* actual, const T* expected) {
  SumLanes<T> lanes;
  ExponentCounts exponents;
  const std::size_t padding = for_each_vector(
      hn::Lanes(F64()), count, actual, expected, [&](const T* a, const T* e, std::size_t) HWY_ATTR {
        exponents.add(lanes.step(rules, doubles(a), doubles(e)));
      });
  BlockSums sums{.actual = sum_of(lanes.actual),
                 .expected = sum_of(lanes.expected),
                 .actual_sq = sum_of(lanes.actual_sq),
                 .expected_sq = sum_of(lanes.expected_sq),
                 .product = sum_of(lanes.product),
                 .expected_abs = sum_of(lanes.expected_abs),
                 .error = sum_of(lanes.error),
                 .error_sq = sum_of(lanes.error_sq),
                 .rel = sum_of(lanes.rel),
                 .max_error = largest_lane(F64(), lanes.max_error),
                 .max_rel = largest_lane(F64(), lanes.max_rel),
                 .inside = static_cast<std::int64_t>(lanes.inside - padding)};
  exponents.add_to(sums.histogram);
  sums.histogram[0] -= static_cast<std::int64_t>(padding);
  return sums;
}

BlockSums float_sums(const PairRules& rules, std::size_t count, const float* actual,
                     const float* expected) {
  return sums_of(rules, count, actual, expected);
}

BlockSums double_sums(const PairRules& rules, std::size_t count, const double* actual,
                      const double* expected) {
  return sums_of(rules, count, actual, expected);
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

// Half the lanes of fp32 make one vector of fp64.
HWY_INLINE VF64 sum_of_halves(VF32 v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(F64(), v);  // the one lane there is
#else
  const VF64 low = hn::PromoteTo(F64(), hn::LowerHalf(hn::Half<F32>(), v));
  return hn::Add(low, hn::PromoteTo(F64(), hn::UpperHalf(hn::Half<F32>(), v)));
#endif
}

BlockRelative relative_errors(std::size_t count, const float* x, const float* y) {
  const VF32 epsilon = hn::Set(F32(), 0x1p-52F), one = hn::Set(F32(), 1.0F);
  VF64 sum = hn::Zero(F64());
  VF32 max = hn::Zero(F32());
  for_each_vector(hn::Lanes(F32()), count, x, y,
                  [&](const float* a, const float* b, std::size_t) HWY_ATTR {
                    const VF32 vx = hn::LoadU(F32(), a), vy = hn::LoadU(F32(), b);
                    const VF32 rel = hn::Abs(hn::Sub(hn::Div(vx, vy), one));
                    const VF32 counted = hn::IfThenElseZero(hn::Gt(hn::Abs(vy), epsilon), rel);
                    max = hn::Max(max, counted);
                    sum = hn::Add(sum, sum_of_halves(counted));
                  });
  return {sum_of(sum), largest_lane(F32(), max)};
}

// log(p/q) for positive normal p and q, within 2e-13 and, where both are close, within some 2^-52
// of itself. With q' = q * 2^k between p/1.5 and 1.5p it is k*log(2) + 2*atanh(s), s =
// (p-q')/(p+q'), |s| <= 0.2: one division, and p - q' is exact.
HWY_INLINE VF64 log_quotient(VF64 p, VF64 q) {
  const hn::RebindToSigned<F64> i64;
  const auto p_bits = hn::BitCast(i64, p), q_bits = hn::BitCast(i64, q);
  // Bits grow by 2^52 from one power of two to the next, evenly between them.
  const auto half_step = hn::Set(i64, std::int64_t{1} << 51);
  const auto k = hn::ShiftRight<52>(hn::Add(hn::Sub(p_bits, q_bits), half_step));
  const VF64 scaled = hn::BitCast(F64(), hn::Add(q_bits, hn::ShiftLeft<52>(k)));
  const VF64 s = hn::Div(hn::Sub(p, scaled), hn::Add(p, scaled));
  const VF64 square = hn::Mul(s, s);
  // atanh(s)/s = 1 + s^2/3 + s^4/5 + ... + s^14/15; the next is 1.5e-13 where s is 0.2.
  VF64 series = number(1.0 / 15);
  series = hn::MulAdd(series, square, number(1.0 / 13));
  series = hn::MulAdd(series, square, number(1.0 / 11));
  series = hn::MulAdd(series, square, number(1.0 / 9));
  series = hn::MulAdd(series, square, number(1.0 / 7));
  series = hn::MulAdd(series, square, number(1.0 / 5));
  series = hn::MulAdd(series, square, number(1.0 / 3));
  series = hn::MulAdd(series, square, number(1));
  constexpr double kLog2 = 0.69314718055994530942;
  return hn::MulAdd(hn::ConvertTo(F64(), k), number(kLog2), hn::Mul(hn::Add(s, s), series));
}

HWY_INLINE VF64 normalised(const KlScale& scale, VF64 value) {
  const VF64 spread = hn::Mul(hn::Sub(value, number(scale.shift)), number(scale.scale));
  return hn::Max(spread, number(0x1p-23));
}

KlSums kl_sums(const KlScales& scales, std::size_t count, const float* x, const float* y) {
  const std::size_t lanes = hn::Lanes(F64());
  VF64 sum_x = hn::Zero(F64()), sum_y = sum_x, sum_log = sum_x;
  for_each_vector(lanes, count, x, y, [&](const float* a, const float* b, std::size_t i) HWY_ATTR {
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
  });
  return {sum_of(sum_x), sum_of(sum_y), sum_of(sum_log)};
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
