#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/conv2d_pack.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/simd/conv2d_plane.h"
#include "kernels/simd/cube.h"
#include "tensor/half-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The first kLanes of a place.
template <std::int64_t kLanes>
HWY_INLINE void load_place(const std::uint16_t* from, float* to) {
  const hn::CappedTag<float, kLanes> d;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    hn::StoreU(load_half(d, from + lane), d, to + lane);
  }
}
template <std::int64_t kLanes>
HWY_INLINE void load_place(const float* from, float* to) {
  const hn::CappedTag<float, kLanes> d;
  const auto most = hn::Set(d, kMaxHalf), least = hn::Set(d, -kMaxHalf);
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, from + lane);
    const auto number = hn::IfThenElseZero(hn::Eq(value, value), value);
    const auto clamped = hn::Max(least, hn::Min(most, number));
    hn::StoreU(widen_half_bits(d, round_to_half_bits(d, clamped)), d, to + lane);
  }
}

// kPhases: the number of phases, or 0 for any other number.
template <std::int64_t kLanes, std::int64_t kPhases, class T>
void load_lanes(const T* from, const PlaceSteps& steps, std::int64_t count, float* to) {
  const std::int64_t phases = kPhases == 0 ? steps.phases : kPhases, to_phase = steps.to_phase;
  const std::int64_t from_step = steps.from, to_step = steps.to;
  for (std::int64_t row = 0; row < steps.rows; ++row, from += steps.from_row, to += steps.to_row) {
    const T* x = from;
    float* y = to;
    for (std::int64_t i = 0; i < count; ++i, x += from_step, y += to_step) {
      for (std::int64_t phase = 0; phase < phases; ++phase) {
        load_place<kLanes>(x + phase * kCube, y + phase * to_phase);
      }
    }
  }
}

template <std::int64_t kLanes, class T>
void load_phases(const T* from, const PlaceSteps& steps, std::int64_t count, float* to) {
  if (steps.phases == 1) return load_lanes<kLanes, 1>(from, steps, count, to);
  if (steps.phases == 2) return load_lanes<kLanes, 2>(from, steps, count, to);
  load_lanes<kLanes, 0>(from, steps, count, to);
}

template <class T>
void load_from(const T* from, const PlaceSteps& steps, std::int64_t count, float* to) {
  if (steps.to == 4) return load_phases<4>(from, steps, count, to);
  load_phases<kCube>(from, steps, count, to);
}

}  // namespace

void load_as_operands(DType dtype, const void* from, const PlaceSteps& steps, std::int64_t count,
                      float* to) {
  if (dtype == DType::fp16) {
    return load_from(static_cast<const std::uint16_t*>(from), steps, count, to);
  }
  load_from(static_cast<const float*>(from), steps, count, to);
}

void exchange_axes(const float* from, std::int64_t rows, std::int64_t pitch, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < kCube; ++c) to[r * pitch + c] = from[c * kCube + r];
  }
#else
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto both = [&](auto a, auto b, auto take) HWY_ATTR {
    return hn::BitCast(d, take(hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
  };
  const auto lower = [&](auto a, auto b) HWY_ATTR { return hn::InterleaveLower(pairs, a, b); };
  const auto upper = [&](auto a, auto b) HWY_ATTR { return hn::InterleaveUpper(pairs, a, b); };
  for (std::int64_t r = 0; r < rows; r += 4) {
    for (std::int64_t c = 0; c < kCube; c += 4) {
      const float* x = from + c * kCube + r;
      const auto x0 = hn::LoadU(d, x), x1 = hn::LoadU(d, x + kCube),
                 x2 = hn::LoadU(d, x + 2 * kCube), x3 = hn::LoadU(d, x + 3 * kCube);
      const auto a0 = hn::InterleaveLower(d, x0, x1), a1 = hn::InterleaveUpper(d, x0, x1);
      const auto b0 = hn::InterleaveLower(d, x2, x3), b1 = hn::InterleaveUpper(d, x2, x3);
      float* y = to + r * pitch + c;
      hn::StoreU(both(a0, b0, lower), d, y);
      if (r + 1 < rows) hn::StoreU(both(a0, b0, upper), d, y + pitch);
      if (r + 2 < rows) hn::StoreU(both(a1, b1, lower), d, y + 2 * pitch);
      if (r + 3 < rows) hn::StoreU(both(a1, b1, upper), d, y + 3 * pitch);
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(load_as_operands);
HWY_EXPORT(exchange_axes);

void load_places(DType dtype, const void* from, const PlaceSteps& steps, std::int64_t count,
                 float* to) {
  HWY_DYNAMIC_DISPATCH(load_as_operands)(dtype, from, steps, count, to);
}

void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to) {
  HWY_DYNAMIC_DISPATCH(exchange_axes)(from, rows, pitch, to);
}

}  // namespace opbench
#endif  // HWY_ONCE
