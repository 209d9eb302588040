#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/thin_plane.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "kernels/copy/plane.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// to[i * kSide + k] = from[k * stride + i]
template <int kSide, class T>
void weave(std::int64_t count, std::int64_t stride, const T* from, T* to) {
  const hn::ScalableTag<T> d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + n <= count; i += n) {
    const auto v0 = hn::LoadU(d, from + i), v1 = hn::LoadU(d, from + stride + i);
    if constexpr (kSide == 2) {
      hn::StoreInterleaved2(v0, v1, d, to + i * kSide);
    } else {
      const auto v2 = hn::LoadU(d, from + 2 * stride + i);
      if constexpr (kSide == 3) {
        hn::StoreInterleaved3(v0, v1, v2, d, to + i * kSide);
      } else {
        const auto v3 = hn::LoadU(d, from + 3 * stride + i);
        hn::StoreInterleaved4(v0, v1, v2, v3, d, to + i * kSide);
      }
    }
  }
  for (; i < count; ++i) {
    for (std::int64_t k = 0; k < kSide; ++k) to[i * kSide + k] = from[k * stride + i];
  }
}

template <bool kStream, class D>
HWY_INLINE void put(hn::Vec<D> value, D d, hn::TFromD<D>* to) {
  if constexpr (kStream && hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) >= 16)
    hn::Stream(value, d, to);
  else
    hn::StoreU(value, d, to);
}

// to[k * stride + i] = from[i * kSide + k]
template <int kSide, bool kStream, class T>
void deal(std::int64_t count, std::int64_t stride, const T* from, T* to) {
  const hn::ScalableTag<T> d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + n <= count; i += n) {
    hn::Vec<decltype(d)> v0, v1, v2, v3;
    if constexpr (kSide == 2) hn::LoadInterleaved2(d, from + i * kSide, v0, v1);
    if constexpr (kSide == 3) hn::LoadInterleaved3(d, from + i * kSide, v0, v1, v2);
    if constexpr (kSide == 4) hn::LoadInterleaved4(d, from + i * kSide, v0, v1, v2, v3);
    put<kStream>(v0, d, to + i);
    put<kStream>(v1, d, to + stride + i);
    if constexpr (kSide > 2) put<kStream>(v2, d, to + 2 * stride + i);
    if constexpr (kSide > 3) put<kStream>(v3, d, to + 3 * stride + i);
  }
  for (; i < count; ++i) {
    for (std::int64_t k = 0; k < kSide; ++k) to[k * stride + i] = from[i * kSide + k];
  }
}

template <int kSide, class T>
void move_of(const Plane& p, const T* from, T* to, bool stream) {
  if (p.nb == kSide && p.to_stride == kSide) return weave<kSide>(p.na, p.from_stride, from, to);
  if (stream) return deal<kSide, true>(p.nb, p.to_stride, from, to);
  deal<kSide, false>(p.nb, p.to_stride, from, to);
}

template <class T>
void move_typed(const Plane& p, const void* source, void* target, bool stream) {
  const auto* from = static_cast<const T*>(source);
  auto* to = static_cast<T*>(target);
  const bool is_woven = p.nb <= 4 && p.to_stride == p.nb;
  const std::int64_t side = is_woven ? p.nb : p.na;
  if (side == 2) return move_of<2>(p, from, to, stream);
  if (side == 3) return move_of<3>(p, from, to, stream);
  move_of<4>(p, from, to, stream);
}

}  // namespace

void move_thin_plane(const Plane& plane, const void* from, void* to, bool stream) {
  if (plane.element_bytes == 1) return move_typed<std::uint8_t>(plane, from, to, stream);
  if (plane.element_bytes == 2) return move_typed<std::uint16_t>(plane, from, to, stream);
  if (plane.element_bytes == 4) return move_typed<std::uint32_t>(plane, from, to, stream);
  move_typed<std::uint64_t>(plane, from, to, stream);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(move_thin_plane);

bool is_thin_side(std::int64_t side) { return side >= 2 && side <= 4; }

}  // namespace

bool is_thin(const Plane& plane) {
  if (plane.valid < plane.nb) return false;
  return (is_thin_side(plane.nb) && plane.to_stride == plane.nb) ||
         (is_thin_side(plane.na) && plane.from_stride == plane.na);
}

void transpose_thin_plane(const Plane& plane, const void* from, void* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(move_thin_plane)(plane, from, to, stream);
}

}  // namespace opbench
#endif  // HWY_ONCE
