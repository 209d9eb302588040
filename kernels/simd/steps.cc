// Loops of quantisers over fp32 numbers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/steps.cc"
#include "kernels/simd/steps.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd/cube.h"
#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

using I32 = hn::RebindToSigned<F32>;
using I8 = hn::Rebind<std::int8_t, F32>;

HWY_INLINE hn::Vec<I32> whole(StepRounding rounding, VF32 v) {
  switch (rounding) {
    case StepRounding::floor:
      return hn::ConvertTo(I32(), hn::Floor(v));
    case StepRounding::ceil:
      return hn::ConvertTo(I32(), hn::Ceil(v));
    case StepRounding::trunc:
      return hn::ConvertTo(I32(), v);
    case StepRounding::nearest:
      break;
  }
  return hn::NearestInt(v);
}

HWY_INLINE VF32 scaled(StepArithmetic arithmetic, VF32 x, VF32 scale, VF32 offset) {
  const VF32 product = arithmetic == StepArithmetic::divide ? hn::Div(x, scale) : hn::Mul(x, scale);
  return hn::Add(product, offset);
}

}  // namespace

// The ends are whole numbers, so clipping before rounding equals clipping after it.
void store_integers(const Steps& steps, const float* from, std::size_t count, std::int8_t* to) {
  const VF32 least = hn::Set(F32(), static_cast<float>(steps.least)),
             most = hn::Set(F32(), static_cast<float>(steps.most));
  const std::size_t lanes = hn::Lanes(F32());
  std::size_t i = 0;
  const auto convert = [&](VF32 v) HWY_ATTR {
    const VF32 number = hn::IfThenElseZero(hn::Eq(v, v), v);
    const VF32 clipped = hn::Min(hn::Max(number, least), most);
    return hn::DemoteTo(I8(), whole(steps.rounding, clipped));
  };
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(convert(hn::LoadU(F32(), from + i)), I8(), to + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(F32())] = {};
  HWY_ALIGN std::int8_t last[hn::MaxLanes(F32())];
  std::copy(from + i, from + count, rest);
  hn::StoreU(convert(hn::LoadU(F32(), rest)), I8(), last);
  std::copy_n(last, count - i, to + i);
}

// Minima and maxima of vectors may lose a NaN, so it is kept in lanes of its own.
StepRange range_of_numbers(const float* numbers, std::size_t count) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::size_t lanes = hn::Lanes(F32());
  VF32 least = hn::Set(F32(), kInf), most = hn::Set(F32(), -kInf), nan = hn::Zero(F32());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF32 x = hn::LoadU(F32(), numbers + i);
    least = hn::Min(least, x);
    most = hn::Max(most, x);
    nan = hn::Or(nan, hn::VecFromMask(F32(), hn::IsNaN(x)));
  }
  HWY_ALIGN float ends[3][hn::MaxLanes(F32())];
  hn::Store(least, F32(), ends[0]);
  hn::Store(most, F32(), ends[1]);
  hn::Store(nan, F32(), ends[2]);
  StepRange range{kInf, -kInf};
  for (std::size_t k = 0; k < lanes; ++k) {
    range.add({ends[0][k], ends[1][k]});
    if (std::isnan(ends[2][k])) range = {ends[2][k], ends[2][k]};
  }
  for (; i < count; ++i) range.add({numbers[i], numbers[i]});
  return range;
}

void multiply_numbers(float* numbers, const float* factors, std::size_t count) {
  const auto product = [](VF32 a, VF32 b) HWY_ATTR { return hn::Mul(a, b); };
  map_lanes<false>(product, count, numbers, static_cast<const float*>(numbers), factors);
}

void scale_alike(StepArithmetic arithmetic, float scale, float offset, float* numbers,
                 std::size_t count) {
  const VF32 s = hn::Set(F32(), scale), o = hn::Set(F32(), offset);
  const auto f = [=](VF32 x) HWY_ATTR { return scaled(arithmetic, x, s, o); };
  map_lanes<false>(f, count, numbers, static_cast<const float*>(numbers));
}

void scale_each(StepArithmetic arithmetic, const float* scales, const float* offsets,
                float* numbers, std::size_t count) {
  const auto f = [=](VF32 x, VF32 s, VF32 o) HWY_ATTR { return scaled(arithmetic, x, s, o); };
  map_lanes<false>(f, count, numbers, static_cast<const float*>(numbers), scales, offsets);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(store_integers);
HWY_EXPORT(range_of_numbers);
HWY_EXPORT(multiply_numbers);
HWY_EXPORT(scale_alike);
HWY_EXPORT(scale_each);

template <class T>
void load_whole(const void* from, std::int64_t count, float* to) {
  const auto* typed = static_cast<const T*>(from);
  std::transform(typed, typed + count, to, [](T v) { return static_cast<float>(v); });
}

}  // namespace

void store_steps(const Steps& steps, const float* from, std::int64_t count, void* to) {
  if (!is_byte_float(steps.dtype)) {
    return HWY_DYNAMIC_DISPATCH(store_integers)(steps, from, static_cast<std::size_t>(count),
                                                static_cast<std::int8_t*>(to));
  }
  const ByteFloat& format = byte_float(steps.dtype);
  const auto most = static_cast<float>(steps.most);
  std::transform(from, from + count, static_cast<std::uint8_t*>(to),
                 [&](float v) { return format.code(std::clamp(v, -most, most)); });
}

void load_numbers(DType dtype, const void* from, std::int64_t count, float* to) {
  if (is_byte_float(dtype)) return widen(dtype, from, to, static_cast<std::size_t>(count));
  if (dtype == DType::int8 || dtype == DType::int4) return load_whole<std::int8_t>(from, count, to);
  if (dtype == DType::int32) return load_whole<std::int32_t>(from, count, to);
  load_floats(dtype, from, count, to);
}

void StepRange::add(const StepRange& other) {
  if (!(other.least >= least)) least = std::isnan(least) ? least : other.least;
  if (!(other.most <= most)) most = std::isnan(most) ? most : other.most;
}

StepRange range_of(const float* numbers, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(range_of_numbers)(numbers, static_cast<std::size_t>(count));
}

void multiply(float* numbers, const float* factors, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(multiply_numbers)(numbers, factors, static_cast<std::size_t>(count));
}

void scale_numbers(StepArithmetic arithmetic, float scale, float offset, float* numbers,
                   std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_alike)
  (arithmetic, scale, offset, numbers, static_cast<std::size_t>(count));
}

void scale_numbers(StepArithmetic arithmetic, const float* scales, const float* offsets,
                   float* numbers, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_each)
  (arithmetic, scales, offsets, numbers, static_cast<std::size_t>(count));
}

}  // namespace opbench
#endif  // HWY_ONCE
