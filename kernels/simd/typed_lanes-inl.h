// fp32 lanes from and to memory of fp32, fp16 and bf16. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_TYPED_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_TYPED_LANES_INL_H_
#undef OPBENCH_KERNELS_TYPED_LANES_INL_H_
#else
#define OPBENCH_KERNELS_TYPED_LANES_INL_H_
#endif
// clang-format on

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "tensor/half-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
