// Frequent conversions of models, at memory speed.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast_simd.cc"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "kernels/cast.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

using I32 = hn::RebindToSigned<F32>;
using I64 = hn::ScalableTag<std::int64_t>;
using HalfOfI64 = hn::Rebind<std::int32_t, I64>;

// Integer memory; an own type, so that map() finds its load and store.
template <class T>
struct Whole {
  T value;
};

template <class T>
HWY_INLINE VF32 load(const Whole<T>* from) {
  const auto stored = hn::LoadU(hn::Rebind<T, F32>(), &from->value);
  if constexpr (sizeof(T) == 4)
    return hn::ConvertTo(F32(), stored);
  else
    return hn::ConvertTo(F32(), hn::PromoteTo(I32(), stored));
}

// Truncates. Highway clamps values that are too large; here NaN becomes 0.
template <bool kStream>
HWY_INLINE void store(VF32 value, Whole<std::int32_t>* to) {
  const VF32 number = hn::IfThenElseZero(hn::Eq(value, value), value);
  put<kStream>(hn::ConvertTo(I32(), number), I32(), &to->value);
}

struct Same {
  HWY_INLINE VF32 operator()(VF32 x) const { return x; }
};

// Calls `body` with a value of the memory type that fp32 lanes are loaded from.
template <class Body>
void visit_source(DType dtype, Body body) {
  if (dtype == DType::int8) return body(Whole<std::int8_t>());
  if (dtype == DType::uint8) return body(Whole<std::uint8_t>());
  if (dtype == DType::int16) return body(Whole<std::int16_t>());
  if (dtype == DType::int32) return body(Whole<std::int32_t>());
  visit_arithmetic(dtype, body);
}

template <class Body>
void visit_target(DType dtype, Body body) {
  if (dtype == DType::int32) return body(Whole<std::int32_t>());
  visit_arithmetic(dtype, body);
}

template <bool kStream>
void narrow_integers(std::size_t count, const std::int64_t* x, std::int32_t* y) {
  const I64 d;
  const HalfOfI64 narrow;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hwy::Prefetch(reinterpret_cast<const char*>(x + i) + kPrefetchBytes);
    const auto bits = hn::BitCast(hn::RebindToUnsigned<I64>(), hn::LoadU(d, x + i));
    const auto low = hn::TruncateTo(hn::RebindToUnsigned<HalfOfI64>(), bits);
    put<kStream>(hn::BitCast(narrow, low), narrow, y + i);
  }
  for (; i < count; ++i) y[i] = static_cast<std::int32_t>(x[i]);
}

template <bool kStream>
void widen_integers(std::size_t count, const std::int32_t* x, std::int64_t* y) {
  const I64 d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hwy::Prefetch(reinterpret_cast<const char*>(x + i) + kPrefetchBytes);
    put<kStream>(hn::PromoteTo(d, hn::LoadU(HalfOfI64(), x + i)), d, y + i);
  }
  for (; i < count; ++i) y[i] = x[i];
}

}  // namespace

void cast_floats(DType from, DType to, bool stream, std::size_t count, const void* x, void* y) {
  visit_source(from, [&](auto source) {
    visit_target(to, [&](auto target) {
      using X = decltype(source);
      using Y = decltype(target);
      map(Same{}, stream, count, static_cast<Y*>(y), static_cast<const X*>(x));
    });
  });
}

void cast_integers(DType from, DType, bool stream, std::size_t count, const void* x, void* y) {
  if (from == DType::int64) {
    const auto narrow = stream ? narrow_integers<true> : narrow_integers<false>;
    narrow(count, static_cast<const std::int64_t*>(x), static_cast<std::int32_t*>(y));
  } else {
    const auto widen = stream ? widen_integers<true> : widen_integers<false>;
    widen(count, static_cast<const std::int32_t*>(x), static_cast<std::int64_t*>(y));
  }
  if (stream) hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(cast_floats);
HWY_EXPORT(cast_integers);

bool is_arithmetic(DType dtype) {
  return dtype == DType::fp32 || dtype == DType::fp16 || dtype == DType::bf16;
}

// True if fp32 lanes hold every value of `from`: then there is at most one rounding.
bool goes_through_lanes(DType from, DType to) {
  if (to == DType::int32) return is_arithmetic(from);
  if (!is_arithmetic(to)) return false;
  return is_arithmetic(from) || from == DType::int8 || from == DType::uint8 ||
         from == DType::int16 || (from == DType::int32 && to == DType::fp32);
}

bool changes_width(DType from, DType to) {
  return (from == DType::int64 && to == DType::int32) ||
         (from == DType::int32 && to == DType::int64);
}

}  // namespace

Launch vectorised_cast(const Problem& problem) {
  const DType from = problem.inputs[0].dtype, to = problem.outputs[0].dtype;
  const bool stream = outgrows_cache(problem);
  if (goes_through_lanes(from, to)) {
    return cast_launch(problem, [=](const void* x, void* y, std::size_t count) {
      HWY_DYNAMIC_DISPATCH(cast_floats)(from, to, stream, count, x, y);
    });
  }
  if (changes_width(from, to)) {
    return cast_launch(problem, [=](const void* x, void* y, std::size_t count) {
      HWY_DYNAMIC_DISPATCH(cast_integers)(from, to, stream, count, x, y);
    });
  }
  return cast_launch(problem, cast_loop(from, to));
}

namespace {

const RegisteredKernel npu{{
    .op = "cast",
    .name = "cast",
    .provider = Provider::npu,
    .summary = "Cast: vectorised between floats, int32 and int64, streamed past the cache; else as "
               "native",
    .prepare = vectorised_cast,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
