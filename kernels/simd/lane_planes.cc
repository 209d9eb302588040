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

// Independent sums: an addition waits for the one before it, and memory is read faster in several
// places at once.
constexpr std::int64_t kChains = 4;

// Two sums of every lane.
struct SumChains {
  alignas(64) float first[kChains][kCube] = {};
  alignas(64) float second[kChains][kCube] = {};

  void store(LanePair& sums) const {
    for (std::int64_t lane = 0; lane < kCube; ++lane) {
      sums.first[lane] = (first[0][lane] + first[2][lane]) + (first[1][lane] + first[3][lane]);
      sums.second[lane] = (second[0][lane] + second[2][lane]) + (second[1][lane] + second[3][lane]);
    }
  }
};

// Adds both terms of one vector of lanes to their sums: places [begin, end) of each of four parts
// that are `part` places apart. `Terms` computes both terms from an offset.
template <class Terms>
HWY_INLINE void add_to_chains(std::int64_t begin, std::int64_t end, std::int64_t part,
                              std::int64_t lane, const Terms& terms, SumChains& chains) {
  const Lanes d;
  const auto load = [&](const float(*of)[kCube], std::int64_t k)
                        HWY_ATTR { return hn::Load(d, of[k] + lane); };
  auto a0 = load(chains.first, 0), a1 = load(chains.first, 1), a2 = load(chains.first, 2),
       a3 = load(chains.first, 3), b0 = load(chains.second, 0), b1 = load(chains.second, 1),
       b2 = load(chains.second, 2), b3 = load(chains.second, 3);
  const std::int64_t step = part * kCube;
  for (std::int64_t at = begin * kCube + lane; at < end * kCube; at += kCube) {
    terms(at, a0, b0);
    terms(at + step, a1, b1);
    terms(at + 2 * step, a2, b2);
    terms(at + 3 * step, a3, b3);
  }
  const auto keep = [&](hn::Vec<Lanes> sum, float(*of)[kCube], std::int64_t k)
                        HWY_ATTR { hn::Store(sum, d, of[k] + lane); };
  keep(a0, chains.first, 0), keep(a1, chains.first, 1), keep(a2, chains.first, 2);
  keep(a3, chains.first, 3), keep(b0, chains.second, 0), keep(b1, chains.second, 1);
  keep(b2, chains.second, 2), keep(b3, chains.second, 3);
}

// The last places, fewer than the chains.
template <class Terms>
HWY_INLINE void add_rest(std::int64_t begin, std::int64_t end, const Terms& terms,
                         SumChains& chains) {
  const Lanes d;
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t lane = 0; lane < kCube; lane += width()) {
      float *const first = chains.first[i - begin] + lane, *const second =
                                                               chains.second[i - begin] + lane;
      auto a = hn::Load(d, first), b = hn::Load(d, second);
      terms(i * kCube + lane, a, b);
      hn::Store(a, d, first);
      hn::Store(b, d, second);
    }
  }
}

// All lanes of some places before the next places, so that narrow vectors also read memory once.
template <class Terms>
HWY_INLINE void sum_lanes(std::int64_t places, const Terms& terms, LanePair& sums) {
  constexpr std::int64_t kPlaces = 32;  // 8 KiB of fp32 in the four parts, 16 KiB with two inputs
  SumChains chains;
  const std::int64_t part = places / kChains;
  for (std::int64_t begin = 0; begin < part; begin += kPlaces) {
    const std::int64_t end = std::min(part, begin + kPlaces);
    for (std::int64_t lane = 0; lane < kCube; lane += width()) {
      add_to_chains(begin, end, part, lane, terms, chains);
    }
  }
  add_rest(part * kChains, places, terms, chains);
  chains.store(sums);
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
    const auto terms = [&](std::int64_t at, auto& sum, auto& square) HWY_ATTR {
      if constexpr (kAhead) prefetch_place(from + at);
      const auto value = load_as(d, from + at);
      sum = hn::Add(sum, value);
      square = hn::Add(square, hn::Mul(value, value));
    };
    sum_lanes(planes.places, terms, sums[plane]);
  }
}

template <bool kAhead, class T>
void sum_and_products_of(const LanePlanes& planes, const T* dy, const T* x, const float* mean,
                         LanePair* sums) {
  const Lanes d;
  for (std::int64_t plane = planes.first; plane < planes.last; ++plane) {
    const std::int64_t start = plane * planes.places * kCube;
    const float* middle = mean + plane % planes.blocks * kCube;
    const auto terms = [&](std::int64_t at, auto& sum, auto& product) HWY_ATTR {
      if constexpr (kAhead) {
        prefetch_place(dy + start + at);
        prefetch_place(x + start + at);
      }
      const auto value = load_as(d, dy + start + at);
      const auto deviation = hn::Sub(load_as(d, x + start + at), hn::LoadU(d, middle + at % kCube));
      sum = hn::Add(sum, value);
      product = hn::Add(product, hn::Mul(value, deviation));
    };
    sum_lanes(planes.places, terms, sums[plane]);
  }
}

// The sums of a plane stay in registers; those of the next plane do not depend on them.
template <class T, class Term>
void sum_of_lanes_of(const LanePlanes& planes, const Term& term, const T* x, float* sums) {
  const Lanes d;
  for (std::int64_t plane = planes.first; plane < planes.last; ++plane, sums += kCube) {
    for (std::int64_t lane = 0; lane < kCube; lane += width()) {
      const T* from = x + plane * planes.places * kCube + lane;
      const auto add = [&](hn::Vec<Lanes>& sum, std::int64_t place) HWY_ATTR {
        sum = hn::Add(sum, term(d, load_as(d, from + place * kCube)));
      };
      auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      std::int64_t i = 0;
      for (; i + 4 <= planes.places; i += 4) {
        add(s0, i), add(s1, i + 1), add(s2, i + 2), add(s3, i + 3);
      }
      if (i < planes.places) add(s0, i);
      if (i + 1 < planes.places) add(s1, i + 1);
      if (i + 2 < planes.places) add(s2, i + 2);
      hn::StoreU(hn::Add(hn::Add(s0, s2), hn::Add(s1, s3)), d, sums + lane);
    }
  }
}

template <bool kStream, bool kHasZ, class T>
HWY_INLINE void scale_plane(std::int64_t places, const LaneScales& of, const T* x, const T* z,
                            T* y) {
  const Lanes d;
  for (std::int64_t i = 0; i < places * kCube; i += kCube) {
    if constexpr (kStream) {
      prefetch_place(x + i);
      if constexpr (kHasZ) prefetch_place(z + i);
    }
    for (std::int64_t lane = 0; lane < kCube; lane += width()) {
      auto sum = hn::Load(d, of.c + lane);
      if constexpr (kHasZ) {
        sum = hn::Add(hn::Mul(hn::Load(d, of.b + lane), load_as(d, z + i + lane)), sum);
      }
      const auto scaled = hn::Mul(hn::Load(d, of.a + lane), load_as(d, x + i + lane));
      store_as<kStream>(hn::Add(scaled, sum), d, y + i + lane);
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
