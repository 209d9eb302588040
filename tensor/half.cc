#include "tensor/half.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tensor/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/half.cc"
#include <hwy/foreach_target.h>
// This header must follow foreach_target.h.
#include "tensor/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

using F32 = hn::ScalableTag<float>;
using U16 = hn::Rebind<std::uint16_t, F32>;

void widen_half(const std::uint16_t* from, float* to, std::size_t count) {
  const F32 d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(load_half(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = half_value(from[i]);
}

void narrow_half(const float* from, std::uint16_t* to, std::size_t count) {
  const F32 d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(round_to_half_bits(d, hn::LoadU(d, from + i)), U16(), to + i);
  }
  for (; i < count; ++i) to[i] = half_bits(from[i]);
}

void narrow_half_saturated(const float* from, std::uint16_t* to, std::size_t count) {
  const F32 d;
  const auto max = hn::Set(d, kMaxHalf), min = hn::Set(d, -kMaxHalf);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, from + i);
    const auto number = hn::IfThenElseZero(hn::Eq(value, value), value);
    const auto clamped = hn::Max(min, hn::Min(max, number));
    hn::StoreU(round_to_half_bits(d, clamped), U16(), to + i);
  }
  for (; i < count; ++i) to[i] = half_bits(saturated(from[i]));
}

void widen_bfloat16(const std::uint16_t* from, float* to, std::size_t count) {
  const F32 d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(load_bfloat16(d, from + i), d, to + i);
  }
  for (; i < count; ++i) to[i] = std::bit_cast<float>(std::uint32_t{from[i]} << 16);
}

void narrow_bfloat16(const float* from, std::uint16_t* to, std::size_t count) {
  const F32 d;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const std::size_t lanes = hn::Lanes(d);
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto lower = hn::LoadU(d, from + i), upper = hn::LoadU(d, from + i + lanes);
    hn::StoreU(round_two_to_bfloat16_bits(d, lower, upper), hn::Repartition<std::uint16_t, F32>(),
               to + i);
  }
#endif
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(round_to_bfloat16_bits(d, hn::LoadU(d, from + i)), U16(), to + i);
  }
  for (; i < count; ++i) to[i] = bfloat16_bits(from[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace opbench {
namespace {

constexpr std::uint16_t kExponent = 0x7C00, kMantissa = 0x03FF, kSign = 0x8000, kLargest = 0x7BFF;

HWY_EXPORT(widen_half);
HWY_EXPORT(narrow_half);
HWY_EXPORT(narrow_half_saturated);
HWY_EXPORT(widen_bfloat16);
HWY_EXPORT(narrow_bfloat16);

}  // namespace

half to_half(float value, HalfMode mode) {
  const float clamped = mode == HalfMode::saturate ? saturated(value) : value;
  return Eigen::numext::bit_cast<half>(half_bits(clamped));
}

bfloat16 to_bfloat16(float value) {
  return Eigen::numext::bit_cast<bfloat16>(bfloat16_bits(value));
}

half round_to_half(double value) { return to_half(rounded_to_odd(value)); }
bfloat16 round_to_bfloat16(double value) { return to_bfloat16(rounded_to_odd(value)); }

void widen(const half* from, float* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widen_half)(reinterpret_cast<const std::uint16_t*>(from), to, count);
}

void widen(const bfloat16* from, float* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widen_bfloat16)(reinterpret_cast<const std::uint16_t*>(from), to, count);
}

void narrow(const float* from, half* to, std::size_t count, HalfMode mode) {
  const auto bits = reinterpret_cast<std::uint16_t*>(to);
  if (mode == HalfMode::saturate) {
    HWY_DYNAMIC_DISPATCH(narrow_half_saturated)(from, bits, count);
  } else {
    HWY_DYNAMIC_DISPATCH(narrow_half)(from, bits, count);
  }
}

void narrow(const float* from, bfloat16* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(narrow_bfloat16)(from, reinterpret_cast<std::uint16_t*>(to), count);
}

std::uint16_t saturated_fp16(std::uint16_t bits) {
  const bool is_special = (bits & kExponent) == kExponent;
  const bool is_nan = is_special && (bits & kMantissa) != 0;
  const auto largest = static_cast<std::uint16_t>((bits & kSign) | kLargest);
  return is_nan ? std::uint16_t{0} : is_special ? largest : bits;
}

bool saturate_fp16(void* data, std::int64_t elements) {
  constexpr std::int64_t kGrain = 32 * 1024;  // elements; fewer do not repay waking a thread
  auto* values = static_cast<std::uint16_t*>(data);
  std::atomic<bool> any = false;
  parallel_ranges(elements, kGrain, [values, &any](std::int64_t begin, std::int64_t end) {
    std::uint16_t changed = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint16_t before = values[i];
      values[i] = saturated_fp16(before);
      changed = static_cast<std::uint16_t>(changed | (before ^ values[i]));
    }
    if (changed != 0) any = true;
  });
  return any;
}

}  // namespace opbench

#endif  // HWY_ONCE
