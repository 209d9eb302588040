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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tensor/half-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// fp32 lanes from and to memory of fp32, fp16 and bf16.
template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const half* from) {
  return load_half(d, reinterpret_cast<const std::uint16_t*>(from));
}
template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const bfloat16* from) {
  return load_bfloat16(d, reinterpret_cast<const std::uint16_t*>(from));
}

// kStream: non-temporal stores for outputs that exceed the cache, without a read of their lines.
// `to` is then aligned to a vector. Highway streams at least 16 bytes, more than the 16-bit results
// of an SSE4 vector have.
template <bool kStream, class D>
HWY_INLINE void put(hn::Vec<D> value, D d, hn::TFromD<D>* to) {
  if constexpr (kStream && hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) >= 16)
    hn::Stream(value, d, to);
  else
    hn::StoreU(value, d, to);
}
template <bool kStream = false, class D>
HWY_INLINE void store_as(hn::Vec<D> value, D d, float* to) {
  put<kStream>(value, d, to);
}
template <bool kStream = false, class D>
HWY_INLINE void store_as(hn::Vec<D> value, D d, half* to) {
  put<kStream>(round_to_half_bits(d, value), hn::Rebind<std::uint16_t, D>(),
               reinterpret_cast<std::uint16_t*>(to));
}
template <bool kStream = false, class D>
HWY_INLINE void store_as(hn::Vec<D> value, D d, bfloat16* to) {
  put<kStream>(round_to_bfloat16_bits(d, value), hn::Rebind<std::uint16_t, D>(),
               reinterpret_cast<std::uint16_t*>(to));
}

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

template <class T>
HWY_INLINE VF32 load(const T* from) {
  return load_as(F32(), from);
}
template <bool kStream, class T>
HWY_INLINE void store(VF32 value, T* to) {
  store_as<kStream>(value, F32(), to);
}

// Two vectors, in one store if they are rounded to 16 bits. For a stream `to` is aligned to a
// vector of the store.
template <bool kStream, class T>
HWY_INLINE void store_two(VF32 lower, VF32 upper, T* to) {
  const F32 d;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint16_t, F32> u16;
  auto* const bits = reinterpret_cast<std::uint16_t*>(to);
  if constexpr (std::is_same_v<T, half>) {
    return put<kStream>(round_two_to_half_bits(d, lower, upper), u16, bits);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return put<kStream>(round_two_to_bfloat16_bits(d, lower, upper), u16, bits);
  }
#endif
  store<kStream>(lower, to);
  store<kStream>(upper, to + hn::Lanes(d));
}

// A stream of two vectors needs this alignment.
template <class T>
bool can_stream(const T* to) {
  return reinterpret_cast<std::uintptr_t>(to) % (hn::Lanes(F32()) * sizeof(float)) == 0;
}

// Bytes ahead of the loads. The hardware prefetcher stops at page ends; this prefetch does not.
inline constexpr std::size_t kPrefetchBytes = 2048;

// Fewer elements than a vector: through separate vectors, so that memory outside the arrays is not
// accessed.
template <class T, class Function, class... Inputs>
void map_few(const Function& f, std::size_t count, T* y, const Inputs*... x) {
  if (count == 0) return;
  HWY_ALIGN T rest[hn::MaxLanes(F32())] = {};
  const auto padded = [&](const auto* from) HWY_ATTR {
    HWY_ALIGN std::remove_cvref_t<decltype(*from)> part[hn::MaxLanes(F32())] = {};
    std::memcpy(part, from, count * sizeof(*from));
    return load(part);
  };
  store<false>(f(padded(x)...), rest);
  std::memcpy(y, rest, count * sizeof(T));
}

// y[i] = f(x[i]...) for `count` elements; Function maps vectors to a vector. Four vectors per
// iteration have enough independent work to hide the latency of the polynomials.
template <bool kStream, class T, class Function, class... Inputs>
void map_lanes(const Function& f, std::size_t count, T* y, const Inputs*... x) {
  const std::size_t lanes = hn::Lanes(F32());
  constexpr std::size_t kUnroll = 4;
  if (count < lanes) return map_few(f, count, y, x...);
  // The last vector overlaps the one before. It is read first, because y may be one of the inputs.
  const bool has_rest = count % lanes != 0;
  VF32 last = hn::Zero(F32());
  if (has_rest) last = f(load(x + (count - lanes))...);
  std::size_t i = 0;
  for (; i + kUnroll * lanes <= count; i += kUnroll * lanes) {
    // For data in the cache the prefetch would use as many load slots as the loads.
    for (std::size_t byte = 0; kStream && byte < kUnroll * lanes * sizeof(T); byte += 64) {
      (hwy::Prefetch(reinterpret_cast<const char*>(x + i) + byte + kPrefetchBytes), ...);
    }
    for (std::size_t k = 0; k < kUnroll; k += 2) {
      const std::size_t at = i + k * lanes;
      const VF32 lower = f(load(x + at)...), upper = f(load(x + at + lanes)...);
      store_two<kStream>(lower, upper, y + at);
    }
  }
  for (; i + lanes <= count; i += lanes) store<false>(f(load(x + i)...), y + i);
  if (has_rest) store<false>(last, y + (count - lanes));
}

// `stream`: past the cache, from the first whole vector of y on. The caller then calls FlushStream
// after the last row.
template <class T, class Function, class... Inputs>
HWY_INLINE void map_row(const Function& f, bool stream, std::size_t count, T* y,
                        const Inputs*... x) {
  if (!stream) return map_lanes<false>(f, count, y, x...);
  const std::size_t vector = hn::Lanes(F32()) * sizeof(float);  // in bytes
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(y) % vector;
  const std::size_t before = beyond == 0 ? 0 : std::min(count, (vector - beyond) / sizeof(T));
  if (before > 0) map_lanes<false>(f, before, y, x...);
  map_lanes<true>(f, count - before, y + before, (x + before)...);
}

template <class T, class Function, class... Inputs>
void map(const Function& f, bool stream, std::size_t count, T* y, const Inputs*... x) {
  map_row(f, stream, count, y, x...);
  if (stream) hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
