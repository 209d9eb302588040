// Gates of pairs of lanes and their gradients; neighbours in memory as pairs. Included once per
// target.
// clang-format off
#if defined(OPBENCH_KERNELS_SWIGLU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_SWIGLU_INL_H_
#undef OPBENCH_KERNELS_SWIGLU_INL_H_
#else
#define OPBENCH_KERNELS_SWIGLU_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simd/math-inl.h"
#include "kernels/simd/rounded-inl.h"
#include "kernels/simd/simd-inl.h"
#include "kernels/swiglu.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

// a*sigmoid(a)*b. kSteps: silu of a is rounded.
template <class T, bool kSteps>
struct SwiGlu {
  explicit SwiGlu(const Gates&) {}
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const {
    const VF32 silu = hn::Mul(a, sigmoid_of(a));
    return hn::Mul(kSteps ? rounded_as<T>(F32(), silu) : silu, b);
  }
};

// The gradients of a and b.
struct GateSlopes {
  VF32 a, b;
};

// kSteps: dy*b, the gradient of silu, and silu are rounded.
template <class T, bool kSteps>
struct SwiGluGrad {
  explicit SwiGluGrad(const Gates&) {}
  static HWY_INLINE VF32 step(VF32 x) { return kSteps ? rounded_as<T>(F32(), x) : x; }
  HWY_INLINE GateSlopes operator()(VF32 dy, VF32 a, VF32 b) const {
    const VF32 s = sigmoid_of(a), rest = hn::Sub(number(1), s);
    return {hn::Mul(step(hn::Mul(dy, b)), hn::Mul(s, hn::MulAdd(a, rest, number(1)))),
            hn::Mul(dy, step(hn::Mul(a, s)))};
  }
};

// NaN is neither less nor greater, and stays.
struct Clipping {
  float alpha, limit, bias;
  explicit Clipping(const Gates& of) : alpha(of.alpha), limit(of.limit), bias(of.bias) {}
  HWY_INLINE VF32 a_of(VF32 a) const {
    return hn::IfThenElse(hn::Gt(a, number(limit)), number(limit), a);
  }
  HWY_INLINE VF32 b_of(VF32 b) const {
    const VF32 above = hn::IfThenElse(hn::Lt(b, number(-limit)), number(-limit), b);
    return hn::Add(a_of(above), number(bias));
  }
  HWY_INLINE VF32 sigmoid(VF32 a) const { return sigmoid_of(hn::Mul(a, number(alpha))); }
};

template <class T, bool kSteps>
struct ClippedSwiGlu : Clipping {
  using Clipping::Clipping;
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const {
    const VF32 x = a_of(a), gate = hn::Mul(x, sigmoid(x));
    return hn::Mul(kSteps ? rounded_as<T>(F32(), gate) : gate, b_of(b));
  }
};

struct ClippedSwiGluGrad : Clipping {
  using Clipping::Clipping;
  HWY_INLINE GateSlopes operator()(VF32 dy, VF32 a, VF32 b) const {
    const VF32 x = a_of(a), s = sigmoid(x), rest = hn::Sub(number(1), s);
    const VF32 slope = hn::MulAdd(hn::Mul(x, number(alpha)), rest, number(1));
    const VF32 inside = hn::Mul(hn::Mul(dy, b_of(b)), hn::Mul(s, slope));
    return {hn::IfThenElseZero(hn::Le(a, number(limit)), inside),
            hn::IfThenElseZero(hn::Le(hn::Abs(b), number(limit)), hn::Mul(hn::Mul(dy, x), s))};
  }
};

// da and db of `count` pairs; they may be a and b.
template <bool kStream, class Gate, class T, class X>
void slope_lanes(const Gate& gate, std::size_t count, const T* dy, const X* a, const X* b, X* da,
                 X* db) {
  const std::size_t lanes = hn::Lanes(F32());
  const auto slopes = [&](std::size_t at)
                          HWY_ATTR { return gate(load(dy + at), load(a + at), load(b + at)); };
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const GateSlopes lower = slopes(i), upper = slopes(i + lanes);
    store_two<kStream>(lower.a, upper.a, da + i);
    store_two<kStream>(lower.b, upper.b, db + i);
  }
  for (; i + lanes <= count; i += lanes) {
    const GateSlopes of = slopes(i);
    store<false>(of.a, da + i);
    store<false>(of.b, db + i);
  }
  if (i == count) return;
  HWY_ALIGN T dys[hn::MaxLanes(F32())] = {};
  HWY_ALIGN X pairs[2][hn::MaxLanes(F32())] = {};
  std::memcpy(dys, dy + i, (count - i) * sizeof(T));
  std::memcpy(pairs[0], a + i, (count - i) * sizeof(X));
  std::memcpy(pairs[1], b + i, (count - i) * sizeof(X));
  const GateSlopes of = gate(load(dys), load(pairs[0]), load(pairs[1]));
  store<false>(of.a, pairs[0]);
  store<false>(of.b, pairs[1]);
  std::memcpy(da + i, pairs[0], (count - i) * sizeof(X));
  std::memcpy(db + i, pairs[1], (count - i) * sizeof(X));
}

inline constexpr std::int64_t kPiece = 512;  // pairs; all arrays of a piece stay in the L1 cache

// Neighbours in fp32: a of the even places, b of the odd ones.
template <class T>
void separate(const T* x, std::int64_t pairs, float* a, float* b) {
  HWY_ALIGN float both[2 * kPiece];
  const float* from = both;
  if constexpr (std::is_same_v<T, float>) {
    from = x;
  } else {
    widen(x, both, static_cast<std::size_t>(2 * pairs));
  }
  const auto n = static_cast<std::int64_t>(hn::Lanes(F32()));
  std::int64_t i = 0;
  for (; i + n <= pairs; i += n) {
    VF32 even, odd;
    hn::LoadInterleaved2(F32(), from + 2 * i, even, odd);
    hn::StoreU(even, F32(), a + i);
    hn::StoreU(odd, F32(), b + i);
  }
  for (; i < pairs; ++i) a[i] = from[2 * i], b[i] = from[2 * i + 1];
}

template <class T>
void interleave(const float* a, const float* b, std::int64_t pairs, T* x) {
  HWY_ALIGN float both[2 * kPiece];
  const auto n = static_cast<std::int64_t>(hn::Lanes(F32()));
  std::int64_t i = 0;
  for (; i + n <= pairs; i += n) {
    hn::StoreInterleaved2(hn::LoadU(F32(), a + i), hn::LoadU(F32(), b + i), F32(), both + 2 * i);
  }
  for (; i < pairs; ++i) both[2 * i] = a[i], both[2 * i + 1] = b[i];
  if constexpr (std::is_same_v<T, float>) {
    std::memcpy(x, both, static_cast<std::size_t>(2 * pairs) * sizeof(float));
  } else {
    narrow(both, x, static_cast<std::size_t>(2 * pairs));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
