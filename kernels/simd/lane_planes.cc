#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/lane_planes.cc"
#include "kernels/simd/lane_planes.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <utility>

#include "kernels/simd/cube.h"
#include "kernels/simd/row_sums-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// A vector with at most the 16 lanes of a place.
using Lanes = hn::CappedTag<float, kCube>;

std::int64_t width() { return static_cast<std::int64_t>(hn::Lanes(Lanes())); }

// Independent sums: an addition waits for the one before it.
constexpr std::int64_t kChains = 4;

// kSums sums of every lane; `terms` adds those of the vector at an offset. The sums stay in
// registers. Narrow vectors compute all lanes of some places before the next places, so that they
// also read memory once.
template <std::size_t kSums, class Terms>
HWY_INLINE void sum_lanes(std::int64_t places, const Terms& terms, float* const (&sums)[kSums]) {
  constexpr std::int64_t kPlaces = 64;  // 4 KiB of fp32: more delays the next read from memory
  const Lanes d;
  const std::int64_t whole = places / kChains * kChains;
  const std::int64_t together = width() < kCube ? kPlaces : std::max(whole, kPlaces);
  alignas(64) float chains[kChains][kSums][kCube];
  std::int64_t begin = 0, end;
  do {
    end = std::min(whole, begin + together);
    for (std::int64_t lane = 0; lane < kCube; lane += width()) {
      hn::Vec<Lanes> v[kChains][kSums];
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < kChains; ++k) {
#pragma GCC unroll 2
        for (std::size_t i = 0; i < kSums; ++i) {
          v[k][i] = begin == 0 ? hn::Zero(d) : hn::Load(d, chains[k][i] + lane);
        }
      }
      for (std::int64_t place = begin; place < end; place += kChains) {
#pragma GCC unroll 4
        for (std::int64_t k = 0; k < kChains; ++k) terms((place + k) * kCube + lane, v[k]);
      }
      if (end < whole) {
#pragma GCC unroll 4
        for (std::int64_t k = 0; k < kChains; ++k) {
#pragma GCC unroll 2
          for (std::size_t i = 0; i < kSums; ++i) hn::Store(v[k][i], d, chains[k][i] + lane);
        }
        continue;
      }
#pragma GCC unroll 3
      for (std::int64_t k = 0; k + 1 < kChains; ++k) {
        if (whole + k < places) terms((whole + k) * kCube + lane, v[k]);
      }
#pragma GCC unroll 2
      for (std::size_t i = 0; i < kSums; ++i) {
        const auto even = hn::Add(v[0][i], v[2][i]), odd = hn::Add(v[1][i], v[3][i]);
        hn::StoreU(hn::Add(even, odd), d, sums[i] + lane);
      }
    }
    begin = end;
  } while (begin < whole);
}

// Prefetches across page ends, where the hardware prefetcher stops.
template <class T>
HWY_INLINE void prefetch_place(const T* x) {
  hwy::Prefetch(reinterpret_cast<const char*>(x) + 2048);
}

template <bool kAhead, class T>
void sum_and_squares_of(const LanePlanes& planes, const T* x, LanePair* sums) {
  const Lanes d;
  for (std::int64_t plane = planes.first; plane < planes.last; ++plane) {
    const T* from = x + plane * planes.places * kCube;
    const auto terms = [&](std::int64_t at, hn::Vec<Lanes>(&sum)[2]) HWY_ATTR {
      if constexpr (kAhead) prefetch_place(from + at);
      const auto value = load_as(d, from + at);
      sum[0] = hn::Add(sum[0], value);
      sum[1] = hn::Add(sum[1], hn::Mul(value, value));
    };
    sum_lanes<2>(planes.places, terms, {sums[plane].first, sums[plane].second});
  }
}

template <bool kAhead, class T>
void sum_and_products_of(const LanePlanes& planes, const T* dy, const T* x, const float* mean,
                         LanePair* sums) {
  const Lanes d;
  for (std::int64_t plane = planes.first; plane < planes.last; ++plane) {
    const std::int64_t start = plane * planes.places * kCube;
    const float* middle = mean + plane % planes.blocks * kCube;
    const auto terms = [&](std::int64_t at, hn::Vec<Lanes>(&sum)[2]) HWY_ATTR {
      if constexpr (kAhead) {
        prefetch_place(dy + start + at);
        prefetch_place(x + start + at);
      }
      const auto value = load_as(d, dy + start + at);
      const auto deviation = hn::Sub(load_as(d, x + start + at), hn::LoadU(d, middle + at % kCube));
      sum[0] = hn::Add(sum[0], value);
      sum[1] = hn::Add(sum[1], hn::Mul(value, deviation));
    };
    sum_lanes<2>(planes.places, terms, {sums[plane].first, sums[plane].second});
  }
}

template <class T, class Term>
void sum_of_lanes_of(const LanePlanes& planes, const Term& term, const T* x, float* sums) {
  const Lanes d;
  for (std::int64_t plane = planes.first; plane < planes.last; ++plane, sums += kCube) {
    const T* from = x + plane * planes.places * kCube;
    const auto terms = [&](std::int64_t at, hn::Vec<Lanes>(&sum)[1])
                           HWY_ATTR { sum[0] = hn::Add(sum[0], term(d, load_as(d, from + at))); };
    sum_lanes<1>(planes.places, terms, {sums});
  }
}

// The scales stay in registers: y may be any memory of fp32, so that a compiler would load them
// again after every store.
template <bool kStream, bool kHasZ, class T>
HWY_INLINE void scale_plane(std::int64_t places, const LaneScales& of, const T* x, const T* z,
                            T* y) {
  const Lanes d;
  constexpr std::size_t kWidth = hn::MaxLanes(Lanes()), kVectors = kCube / kWidth;
  hn::Vec<Lanes> a[kVectors], b[kVectors], c[kVectors];
#pragma GCC unroll 4
  for (std::size_t k = 0; k < kVectors; ++k) {
    a[k] = hn::Load(d, of.a + k * kWidth);
    b[k] = hn::Load(d, of.b + k * kWidth);
    c[k] = hn::Load(d, of.c + k * kWidth);
  }
  for (std::int64_t i = 0; i < places * kCube; i += kCube) {
    if constexpr (kStream) {
      prefetch_place(x + i);
      if constexpr (kHasZ) prefetch_place(z + i);
    }
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kVectors; ++k) {
      const std::size_t at = static_cast<std::size_t>(i) + k * kWidth;
      auto sum = c[k];
      if constexpr (kHasZ) sum = hn::Add(hn::Mul(b[k], load_as(d, z + at)), sum);
      store_as<kStream>(hn::Add(hn::Mul(a[k], load_as(d, x + at)), sum), d, y + at);
    }
  }
}

template <bool kStream, bool kHasZ, class T>
void scale_of(const LanePlanes& planes, const LaneScales* of, const T* x, const T* z, T* y) {
  const std::int64_t elements = planes.places * kCube;
  for (std::int64_t plane = planes.first; plane < planes.last; ++plane) {
    const std::int64_t start = plane * elements;
    scale_plane<kStream, kHasZ>(planes.places, of[plane % planes.blocks], x + start,
                                kHasZ ? z + start : nullptr, y + start);
  }
  if (kStream) hwy::FlushStream();
}

template <bool kStream, class T>
void drain_to(float* from, std::int64_t count, T* to) {
  const Lanes d;
  std::int64_t i = 0;
  if (kStream) {  // a vector of `to` begins at a multiple of its size
    const std::size_t bytes = hn::Lanes(d) * sizeof(T);
    for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % bytes != 0; ++i) {
      to[i] = static_cast<T>(std::exchange(from[i], 0.0f));
    }
  }
  for (; i + width() <= count; i += width()) {
    store_as<kStream>(hn::LoadU(d, from + i), d, to + i);
    hn::StoreU(hn::Zero(d), d, from + i);
  }
  for (; i < count; ++i) to[i] = static_cast<T>(std::exchange(from[i], 0.0f));
  if (kStream) hwy::FlushStream();
}

}  // namespace

void drain_here(DType dtype, bool stream, float* from, std::int64_t count, void* to) {
  visit_arithmetic(dtype, [&](auto tag) {
    auto* out = static_cast<decltype(tag)*>(to);
    if (stream) return drain_to<true>(from, count, out);
    drain_to<false>(from, count, out);
  });
}

void sum_squares_here(const LanePlanes& planes, const void* x, LanePair* sums) {
  visit_arithmetic(planes.dtype, [&](auto tag) {
    const auto* from = static_cast<const decltype(tag)*>(x);
    if (planes.ahead) return sum_and_squares_of<true>(planes, from, sums);
    sum_and_squares_of<false>(planes, from, sums);
  });
}

void sum_products_here(const LanePlanes& planes, const void* dy, const void* x, const float* mean,
                       LanePair* sums) {
  visit_arithmetic(planes.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T *a = static_cast<const T*>(dy), *b = static_cast<const T*>(x);
    if (planes.ahead) return sum_and_products_of<true>(planes, a, b, mean, sums);
    sum_and_products_of<false>(planes, a, b, mean, sums);
  });
}

void sum_of_lanes_here(const LanePlanes& planes, float scale, const void* x, float* sums) {
  visit_arithmetic(planes.dtype, [&](auto tag) {
    const auto* from = static_cast<const decltype(tag)*>(x);
    if (scale == 1) return sum_of_lanes_of(planes, Itself(), from, sums);
    sum_of_lanes_of(planes, Times{scale}, from, sums);
  });
}

void scale_here(const LanePlanes& planes, bool stream, const LaneScales* of, const void* x,
                const void* z, void* y) {
  visit_arithmetic(planes.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T *a = static_cast<const T*>(x), *b = static_cast<const T*>(z);
    T* to = static_cast<T*>(y);
    if (stream) {
      if (b == nullptr) return scale_of<true, false>(planes, of, a, b, to);
      return scale_of<true, true>(planes, of, a, b, to);
    }
    if (b == nullptr) return scale_of<false, false>(planes, of, a, b, to);
    scale_of<false, true>(planes, of, a, b, to);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(sum_squares_here);
HWY_EXPORT(sum_products_here);
HWY_EXPORT(sum_of_lanes_here);
HWY_EXPORT(scale_here);
HWY_EXPORT(drain_here);

void sum_and_squares(const LanePlanes& planes, const void* x, LanePair* sums) {
  HWY_DYNAMIC_DISPATCH(sum_squares_here)(planes, x, sums);
}

void sum_and_products(const LanePlanes& planes, const void* dy, const void* x, const float* mean,
                      LanePair* sums) {
  HWY_DYNAMIC_DISPATCH(sum_products_here)(planes, dy, x, mean, sums);
}

void sum_of_lanes(const LanePlanes& planes, float scale, const void* x, float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_of_lanes_here)(planes, scale, x, sums);
}

void scale_lanes(const LanePlanes& planes, bool stream, const LaneScales* of, const void* x,
                 const void* z, void* y) {
  HWY_DYNAMIC_DISPATCH(scale_here)(planes, stream, of, x, z, y);
}

void drain_floats(DType dtype, bool stream, float* from, std::int64_t count, void* to) {
  HWY_DYNAMIC_DISPATCH(drain_here)(dtype, stream, from, count, to);
}

}  // namespace opbench
#endif  // HWY_ONCE
