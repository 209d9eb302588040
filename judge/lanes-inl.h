// Building blocks of the loops over a block. Included once for each target.
// clang-format off
#if defined(OPBENCH_JUDGE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_JUDGE_LANES_INL_H_
#undef OPBENCH_JUDGE_LANES_INL_H_
#else
#define OPBENCH_JUDGE_LANES_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "judge/pair_stats.h"
#include "tensor/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::ScalableTag<double>;
using VF64 = hn::Vec<F64>;
using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;
using I32 = hn::RebindToSigned<F32>;
using VI32 = hn::Vec<I32>;

HWY_INLINE VF64 doubles(const double* from) { return hn::LoadU(F64(), from); }
HWY_INLINE VF64 doubles(const float* from) {
  return hn::PromoteTo(F64(), hn::LoadU(hn::Rebind<float, F64>(), from));
}

HWY_INLINE VF64 number(double value) { return hn::Set(F64(), value); }

// Number of fp64 vectors for the lanes of one fp32 vector.
inline constexpr std::size_t kHalves = HWY_TARGET == HWY_SCALAR ? 1 : 2;

// The first or second half of 32-bit lanes as fp64.
template <std::size_t half, class V>
HWY_INLINE VF64 half_of(V v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(F64(), v);  // the one lane there is
#else
  const hn::Half<hn::DFromV<V>> d;
  if constexpr (half == 0) return hn::PromoteTo(F64(), hn::LowerHalf(d, v));
  return hn::PromoteTo(F64(), hn::UpperHalf(d, v));
#endif
}

// Calls `step(i, actual, expected, ...)` for every `lanes` elements, with the arrays from element i
// on. The last elements go through arrays padded with zeros, so that no other memory is accessed.
// Returns the number of added zeros.
template <class T, class Step>
HWY_INLINE std::size_t for_each_vector(std::size_t lanes, std::size_t count, const T* actual,
                                       const T* expected, const float* actual_floats,
                                       const float* expected_floats, Step step) {
  constexpr std::size_t kMost = hn::MaxLanes(F32());
  HWY_ALIGN T last_actual[kMost] = {}, last_expected[kMost] = {};
  HWY_ALIGN float last_actual_floats[kMost] = {}, last_expected_floats[kMost] = {};
  const auto last = [count](auto*& array, auto* padded, std::size_t i) {
    std::memcpy(padded, array, (count - i) * sizeof *array);
    array = padded;
  };
  for (std::size_t i = 0; i < count; i += lanes) {
    if (i + lanes > count) {
      last(actual, last_actual, i);
      last(expected, last_expected, i);
      last(actual_floats, last_actual_floats, i);
      last(expected_floats, last_expected_floats, i);
    }
    step(i, actual, expected, actual_floats, expected_floats);
    actual += lanes, expected += lanes, actual_floats += lanes, expected_floats += lanes;
  }
  return count % lanes == 0 ? 0 : lanes - count % lanes;
}

// Goes through memory: Highway's emulated minimum of lanes starts at the largest finite number.
template <class D>
HWY_INLINE double smallest_lane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  return *std::min_element(lanes, lanes + hn::Lanes(d));
}

template <class D>
HWY_INLINE double largest_lane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

// Adds in the order of the lanes, so a block of a few elements is added in its order.
HWY_INLINE double sum_of(VF64 v) {
  const F64 d;
  HWY_ALIGN double lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  double sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) sum += lanes[i];
  return sum;
}

// 1/v for normal fp32 values, within 2^-50. AVX-512 divides 8 doubles in 16 cycles, which block
// other divisions. Two Newton steps from its 14-bit approximation take 4 cycles.
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

// The larger value, or `floor` for NaN: an index of a table must never be NaN. x86 defines its
// maximum in this way.
HWY_INLINE VF64 at_least(VF64 v, VF64 floor) {
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2) {
    return hn::Max(v, floor);
  }
  return hn::IfThenElse(hn::Gt(v, floor), v, floor);
}

// Counts errors by their exponent. Counting is scalar work, which the processor does in parallel
// with the vector work of the next errors. Some errors wait in memory until there are enough of
// them. There are four tables, so a count need not wait for the previous one.
class ExponentCounts {
 public:
  HWY_INLINE void add(VF64 error) {
    // The smallest values of the first and of the last bucket.
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

// A value of a floating dtype as a whole number that grows by 1 from one number of the dtype to the
// next; -0 is 0.
HWY_INLINE VI32 ordinal(DType dtype, VF32 v) {
  const VI32 sign = hn::ShiftRight<31>(hn::BitCast(I32(), v));
  VI32 magnitude = hn::BitCast(I32(), hn::Abs(v));
  if (dtype == DType::fp16) {
    magnitude = hn::PromoteTo(I32(), round_to_half_bits(F32(), hn::Abs(v)));
  } else if (dtype == DType::bf16) {
    const VI32 odd = hn::And(hn::ShiftRight<16>(magnitude), hn::Set(I32(), 1));
    magnitude = hn::ShiftRight<16>(hn::Add(magnitude, hn::Add(odd, hn::Set(I32(), 0x7FFF))));
  }
  return hn::Sub(hn::Xor(magnitude, sign), sign);
}

// The distance of two values in units of a floating dtype of at most 32 bits. It is below 2^32 but
// can exceed 2^31, which is subtracted until the conversion to numbers.
HWY_INLINE VI32 units_apart(DType dtype, VF32 a, VF32 e) {
  const VI32 oa = ordinal(dtype, a), oe = ordinal(dtype, e);
  const VI32 distance = hn::Sub(hn::Max(oa, oe), hn::Min(oa, oe));
  return hn::Xor(distance, hn::Set(I32(), INT32_MIN));
}

template <std::size_t half>
HWY_INLINE VF64 units_of(VI32 apart) {
  return hn::Add(half_of<half>(apart), number(0x1p31));
}

// log(p/q) for positive normal p and q, with an error below 2e-13; if both are close, with a
// relative error of about 2^-52. For q' = q * 2^k between p/1.5 and 1.5p it is k*log(2) +
// 2*atanh(s), s = (p-q')/(p+q'), |s| <= 0.2. This needs one division, and p - q' is exact.
HWY_INLINE VF64 log_quotient(VF64 p, VF64 q) {
  const hn::RebindToSigned<F64> i64;
  const auto p_bits = hn::BitCast(i64, p), q_bits = hn::BitCast(i64, q);
  // Bits grow by 2^52 from one power of two to the next, evenly between them.
  const auto half_step = hn::Set(i64, std::int64_t{1} << 51);
  const auto k = hn::ShiftRight<52>(hn::Add(hn::Sub(p_bits, q_bits), half_step));
  const VF64 scaled = hn::BitCast(F64(), hn::Add(q_bits, hn::ShiftLeft<52>(k)));
  const VF64 s = hn::Div(hn::Sub(p, scaled), hn::Add(p, scaled));
  const VF64 square = hn::Mul(s, s);
  // atanh(s)/s = 1 + s^2/3 + s^4/5 + ... + s^14/15. The next term is 1.5e-13 if s is 0.2.
  VF64 series = number(1.0 / 15);
  for (const int odd : {13, 11, 9, 7, 5, 3, 1}) {
    series = hn::MulAdd(series, square, number(1.0 / odd));
  }
  constexpr double kLog2 = 0.69314718055994530942;
  return hn::MulAdd(hn::ConvertTo(F64(), k), number(kLog2), hn::Mul(hn::Add(s, s), series));
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
