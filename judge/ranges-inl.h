// What of a block is counted and compared as it is, and distances in units in the last place.
// Included once per target.
// clang-format off
#if defined(OPBENCH_COMPARE_RANGES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_COMPARE_RANGES_INL_H_
#undef OPBENCH_COMPARE_RANGES_INL_H_
#else
#define OPBENCH_COMPARE_RANGES_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "judge/block-inl.h"
#include "judge/measure_vector.h"
#include "tensor/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

template <class T>
struct RangeLanes {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  V actual_min, actual_max, expected_min, expected_max;
  std::size_t actual_zeros = 0, expected_zeros = 0, unequal = 0;

  HWY_INLINE void count(V a, V e) {
    actual_zeros += hn::CountTrue(D(), hn::Eq(a, hn::Zero(D())));
    expected_zeros += hn::CountTrue(D(), hn::Eq(e, hn::Zero(D())));
    unequal += hn::CountTrue(D(), hn::Ne(a, e));
  }

  HWY_INLINE void range(V a, V e) {
    actual_min = hn::Min(actual_min, a);
    actual_max = hn::Max(actual_max, a);
    expected_min = hn::Min(expected_min, e);
    expected_max = hn::Max(expected_max, e);
  }
};

template <class T>
BlockRange range_of(std::size_t count, const T* actual, const T* expected) {
  using D = hn::ScalableTag<T>;
  const std::size_t lanes = hn::Lanes(D());
  const auto a0 = hn::Set(D(), actual[0]), e0 = hn::Set(D(), expected[0]);
  RangeLanes<T> found{a0, a0, e0, e0};
  // The zeros that pad the last vector would count in a range.
  const std::size_t padding = for_each_vector(
      lanes, count, actual, expected, [&](const T* a, const T* e, std::size_t i) HWY_ATTR {
        const auto va = hn::LoadU(D(), a), ve = hn::LoadU(D(), e);
        found.count(va, ve);
        if (i + lanes <= count) found.range(va, ve);
      });
  BlockRange range{.actual_min = smallest_lane(D(), found.actual_min),
                   .actual_max = largest_lane(D(), found.actual_max),
                   .expected_min = smallest_lane(D(), found.expected_min),
                   .expected_max = largest_lane(D(), found.expected_max),
                   .actual_zeros = static_cast<std::int64_t>(found.actual_zeros - padding),
                   .expected_zeros = static_cast<std::int64_t>(found.expected_zeros - padding),
                   .unequal = static_cast<std::int64_t>(found.unequal)};
  for (std::size_t i = count - count % lanes; i < count; ++i) {
    range.actual_min = std::min<double>(range.actual_min, actual[i]);
    range.actual_max = std::max<double>(range.actual_max, actual[i]);
    range.expected_min = std::min<double>(range.expected_min, expected[i]);
    range.expected_max = std::max<double>(range.expected_max, expected[i]);
  }
  return range;
}

BlockRange float_range(std::size_t count, const float* actual, const float* expected) {
  return range_of(count, actual, expected);
}

BlockRange double_range(std::size_t count, const double* actual, const double* expected) {
  return range_of(count, actual, expected);
}

using I32 = hn::RebindToSigned<F32>;
using VI32 = hn::Vec<I32>;
using U32 = hn::RebindToUnsigned<F32>;

// Sign and magnitude as a whole number that grows with the value; -0 is 0.
HWY_INLINE VI32 signed_ordinal(VI32 magnitude, VI32 sign_mask) {
  return hn::Sub(hn::Xor(magnitude, sign_mask), sign_mask);
}

HWY_INLINE VI32 magnitude_bits(VF32 v) { return hn::BitCast(I32(), hn::Abs(v)); }

// All ones where the value is negative.
HWY_INLINE VI32 sign_mask(VF32 v) { return hn::ShiftRight<31>(hn::BitCast(I32(), v)); }

struct Fp32Ordinal {
  HWY_INLINE VI32 operator()(VF32 v) const {
    return signed_ordinal(magnitude_bits(v), sign_mask(v));
  }
};

struct Fp16Ordinal {
  HWY_INLINE VI32 operator()(VF32 v) const {
    const auto bits = hn::PromoteTo(I32(), round_to_half_bits(F32(), hn::Abs(v)));
    return signed_ordinal(bits, sign_mask(v));
  }
};

struct Bf16Ordinal {
  HWY_INLINE VI32 operator()(VF32 v) const {
    const VI32 bits = magnitude_bits(v);
    const VI32 odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(I32(), 1));
    const VI32 rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(I32(), 0x7FFF))));
    return signed_ordinal(rounded, sign_mask(v));
  }
};

HWY_INLINE std::uint64_t sum_lanes(hn::Vec<U32> v) {
  HWY_ALIGN std::uint32_t lanes[hn::MaxLanes(U32())];
  hn::Store(v, U32(), lanes);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(U32()); ++i) sum += lanes[i];
  return sum;
}

template <class Ordinal>
BlockUlp ulp_of(std::size_t count, const float* actual, const float* expected,
                std::uint32_t* distances) {
  const Ordinal ordinal;
  hn::Vec<U32> max = hn::Zero(U32()), low = max, high = max;
  for_each_vector(hn::Lanes(F32()), count, actual, expected,
                  [&](const float* a, const float* e, std::size_t i) HWY_ATTR {
                    const VI32 oa = ordinal(hn::LoadU(F32(), a)), oe = ordinal(hn::LoadU(F32(), e));
                    // Below 2^32, though not below 2^31.
                    const auto distance =
                        hn::BitCast(U32(), hn::Sub(hn::Max(oa, oe), hn::Min(oa, oe)));
                    max = hn::Max(max, distance);
                    // Halves of 16 bits, which a block of 2^12 cannot make overflow.
                    low = hn::Add(low, hn::And(distance, hn::Set(U32(), 0xFFFF)));
                    high = hn::Add(high, hn::ShiftRight<16>(distance));
                    hn::StoreU(distance, U32(), distances + i);
                  });
  const auto sum = static_cast<double>(sum_lanes(low) + (sum_lanes(high) << 16));
  return {largest_lane(U32(), max), sum};
}

BlockUlp ulp_distances(DType dtype, std::size_t count, const float* actual, const float* expected,
                       std::uint32_t* distances) {
  if (dtype == DType::fp16) return ulp_of<Fp16Ordinal>(count, actual, expected, distances);
  if (dtype == DType::bf16) return ulp_of<Bf16Ordinal>(count, actual, expected, distances);
  return ulp_of<Fp32Ordinal>(count, actual, expected, distances);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
