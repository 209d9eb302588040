#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/conv2d_pack.cc"
#include "kernels/lanes/conv2d_pack.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes/cube.h"
#include "tensor/half-inl.h"
#include "tensor/half_bits.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The first kLanes of each place.
template <std::int64_t kLanes>
void load_lanes(DType dtype, const void* from, std::int64_t step, std::int64_t count, float* to,
                std::int64_t pitch) {
  const hn::CappedTag<float, kLanes> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto most = hn::Set(d, kMaxHalf), least = hn::Set(d, -kMaxHalf);
  const auto* halves = static_cast<const std::uint16_t*>(from);
  const auto* floats = static_cast<const float*>(from);
  HWY_ALIGN std::uint16_t narrow[kLanes];
  for (std::int64_t i = 0; i < count; ++i, to += pitch) {
    for (std::int64_t lane = 0; lane < kLanes; lane += width) {
      if (dtype == DType::fp16) {
        hn::StoreU(load_half(d, halves + i * step + lane), d, to + lane);
        continue;
      }
      const auto value = hn::LoadU(d, floats + i * step + lane);
      const auto number = hn::IfThenElseZero(hn::Eq(value, value), value);
      const auto clamped = hn::Max(least, hn::Min(most, number));
      hn::StoreU(round_to_half_bits(d, clamped), hn::Rebind<std::uint16_t, decltype(d)>(),
                 narrow + lane);
      hn::StoreU(load_half(d, narrow + lane), d, to + lane);
    }
  }
}

}  // namespace

void load_as_operands(DType dtype, const void* from, std::int64_t step, std::int64_t count,
                      float* to, std::int64_t pitch) {
  if (pitch == 4) return load_lanes<4>(dtype, from, step, count, to, pitch);
  load_lanes<kCube>(dtype, from, step, count, to, pitch);
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

void load_places(DType dtype, const void* from, std::int64_t step, std::int64_t count, float* to,
                 std::int64_t pitch) {
  HWY_DYNAMIC_DISPATCH(load_as_operands)(dtype, from, step, count, to, pitch);
}

void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to) {
  HWY_DYNAMIC_DISPATCH(exchange_axes)(from, rows, pitch, to);
}

}  // namespace opbench
#endif  // HWY_ONCE
