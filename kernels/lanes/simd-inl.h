// Element-wise loops over fp32, fp16 and bf16 memory, computed in fp32 lanes. Included once per
// target.
// clang-format off
#if defined(OPBENCH_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_SIMD_INL_H_
#undef OPBENCH_KERNELS_SIMD_INL_H_
#else
#define OPBENCH_KERNELS_SIMD_INL_H_
#endif
// clang-format on

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

#include "tensor/half-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

HWY_INLINE VF32 load(const float* from) { return hn::LoadU(F32(), from); }
HWY_INLINE VF32 load(const half* from) {
  return load_half(F32(), reinterpret_cast<const std::uint16_t*>(from));
}
HWY_INLINE VF32 load(const bfloat16* from) {
  return load_bfloat16(F32(), reinterpret_cast<const std::uint16_t*>(from));
}

// kStream: non-temporal, for outputs that outgrow the cache: their lines are not read before they
// are written. `to` is then aligned to a vector. Highway streams 16 bytes at least, more than the
// 16-bit results of an SSE4 vector have.
template <bool kStream, class D>
HWY_INLINE void put(hn::Vec<D> value, D d, hn::TFromD<D>* to) {
  if constexpr (kStream && hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) >= 16)
    hn::Stream(value, d, to);
  else
    hn::StoreU(value, d, to);
}
template <bool kStream>
HWY_INLINE void store(VF32 value, float* to) {
  put<kStream>(value, F32(), to);
}
template <bool kStream>
HWY_INLINE void store(VF32 value, half* to) {
  put<kStream>(round_to_half_bits(F32(), value), hn::Rebind<std::uint16_t, F32>(),
               reinterpret_cast<std::uint16_t*>(to));
}
template <bool kStream>
HWY_INLINE void store(VF32 value, bfloat16* to) {
  put<kStream>(round_to_bfloat16_bits(F32(), value), hn::Rebind<std::uint16_t, F32>(),
               reinterpret_cast<std::uint16_t*>(to));
}

// Bytes ahead of the loads. The hardware prefetcher stops at page ends; this carries over them.
inline constexpr std::size_t kPrefetchBytes = 2048;

// y[i] = f(x[i]...) for `count` elements; Function maps vectors to a vector. Four vectors an
// iteration keep enough independent work in flight to hide the latency of the polynomials.
template <bool kStream, class T, class Function, class... Inputs>
void map_lanes(const Function& f, std::size_t count, T* y, const Inputs*... x) {
  const std::size_t lanes = hn::Lanes(F32());
  constexpr std::size_t kUnroll = 4;
  std::size_t i = 0;
  for (; i + kUnroll * lanes <= count; i += kUnroll * lanes) {
    // In the cache it would take as many load slots as the loads themselves.
    for (std::size_t byte = 0; kStream && byte < kUnroll * lanes * sizeof(T); byte += 64) {
      (hwy::Prefetch(reinterpret_cast<const char*>(x + i) + byte + kPrefetchBytes), ...);
    }
    for (std::size_t k = 0; k < kUnroll; ++k) {
      const std::size_t at = i + k * lanes;
      store<kStream>(f(load(x + at)...), y + at);
    }
  }
  for (; i + lanes <= count; i += lanes) store<false>(f(load(x + i)...), y + i);
  if (i == count) return;
  // The tail goes through a whole vector of its own, so that nothing outside the arrays is touched.
  HWY_ALIGN T rest[hn::MaxLanes(F32())] = {};
  const auto padded = [&](const auto* from) HWY_ATTR {
    HWY_ALIGN std::remove_cvref_t<decltype(*from)> part[hn::MaxLanes(F32())] = {};
    std::memcpy(part, from, (count - i) * sizeof(*from));
    return load(part);
  };
  store<false>(f(padded(x + i)...), rest);
  std::memcpy(y + i, rest, (count - i) * sizeof(T));
}

template <class T, class Function, class... Inputs>
void map(const Function& f, bool stream, std::size_t count, T* y, const Inputs*... x) {
  if (!stream) return map_lanes<false>(f, count, y, x...);
  map_lanes<true>(f, count, y, x...);
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
