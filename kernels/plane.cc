#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/plane.cc"
#include "kernels/plane.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements [a, a + na) x [b, b + nb) of a plane.
struct Part {
  std::int64_t a, na, b, nb;
};

template <class T>
void move_elements(const Plane& p, const Part& part, const T* from, T* to) {
  for (std::int64_t a = part.a; a < part.a + part.na; ++a) {
    for (std::int64_t b = part.b; b < part.b + part.nb; ++b) {
      to[a * p.to_stride + b] = b < p.valid ? from[b * p.from_stride + a] : T{0};
    }
  }
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// A square of elements in 128-bit registers: wider ones would be bound by the same loads and
// stores, and need shuffles across lanes.
template <class T>
class Tile {
 public:
  using D = hn::FixedTag<T, 16 / sizeof(T)>;
  using V = hn::Vec<D>;
  static constexpr int kSide = 16 / sizeof(T);

  template <bool kAllValid>
  HWY_INLINE void load(const T* from, std::int64_t stride, std::int64_t valid) {
    for (int i = 0; i < kSide; ++i) {
      rows_[i] = kAllValid || i < valid ? hn::LoadU(D(), from + i * stride) : hn::Zero(D());
    }
  }

  // Interleaving row i with row i + side/2 moves one bit of the row number into the column number;
  // after log2(side) times they have changed places.
  HWY_INLINE void transpose() {
    for (int step = 1; step < kSide; step *= 2) {
      V next[kSide];
      for (int i = 0; i < kSide / 2; ++i) {
        next[2 * i] = hn::InterleaveLower(D(), rows_[i], rows_[i + kSide / 2]);
        next[2 * i + 1] = hn::InterleaveUpper(D(), rows_[i], rows_[i + kSide / 2]);
      }
      for (int i = 0; i < kSide; ++i) rows_[i] = next[i];
    }
  }

  template <bool kStream>
  HWY_INLINE void store(T* to, std::int64_t stride, std::int64_t rows) const {
    for (int i = 0; i < kSide; ++i) {
      if (i >= rows) return;
      if constexpr (kStream)
        hn::Stream(rows_[i], D(), to + i * stride);
      else
        hn::StoreU(rows_[i], D(), to + i * stride);
    }
  }

 private:
  V rows_[kSide];
};

template <class T, bool kStream>
HWY_INLINE void move_tile(const Plane& p, const Part& part, const T* from, T* to) {
  using Square = Tile<T>;
  constexpr int kSide = Square::kSide;
  const bool fits = part.nb == kSide && part.a + kSide <= p.readable;
  if (!fits) return move_elements(p, part, from, to);
  Square tile;
  const T* first = from + part.b * p.from_stride + part.a;
  if (part.b + kSide <= p.valid)
    tile.template load<true>(first, p.from_stride, kSide);
  else
    tile.template load<false>(first, p.from_stride, p.valid - part.b);
  tile.transpose();
  tile.template store<kStream>(to + part.a * p.to_stride + part.b, p.to_stride, part.na);
}

// Square blocks whose sides are a cache line, so that every line is read and written whole while it
// is at hand.
template <class T, bool kStream>
void move_plane(const Plane& p, const T* from, T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T), kBlock = 64 / sizeof(T);
  for (std::int64_t a0 = 0; a0 < p.na; a0 += kBlock) {
    for (std::int64_t b0 = 0; b0 < p.nb; b0 += kBlock) {
      for (std::int64_t a = a0; a < std::min(a0 + kBlock, p.na); a += kSide) {
        for (std::int64_t b = b0; b < std::min(b0 + kBlock, p.nb); b += kSide) {
          move_tile<T, kStream>(p, {a, std::min(kSide, p.na - a), b, std::min(kSide, p.nb - b)},
                                from, to);
        }
      }
    }
  }
}

#else

template <class T, bool kStream>
void move_plane(const Plane& p, const T* from, T* to) {
  move_elements(p, {0, p.na, 0, p.nb}, from, to);
}

#endif

template <class T>
void move_typed(const Plane& p, const void* from, void* to, bool stream) {
  if (stream)
    move_plane<T, true>(p, static_cast<const T*>(from), static_cast<T*>(to));
  else
    move_plane<T, false>(p, static_cast<const T*>(from), static_cast<T*>(to));
}

template <bool kStream>
HWY_INLINE void move_block(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= bytes; i += lanes) {
    if constexpr (kStream)
      hn::Stream(hn::LoadU(d, from + i), d, to + i);
    else
      hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  }
  if (i < bytes) std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
}

template <bool kStream>
void move_grid(const BlockGrid& grid, const std::uint8_t* from, std::uint8_t* to) {
  constexpr std::int64_t kNeighbours = 16;  // as many streams of reads as the prefetcher follows
  for (std::int64_t p0 = 0; p0 < grid.np; p0 += kNeighbours) {
    const std::int64_t end = std::min(p0 + kNeighbours, grid.np);
    for (std::int64_t q = 0; q < grid.nq; ++q) {
      for (std::int64_t p = p0; p < end; ++p) {
        move_block<kStream>(from + p * grid.from_p + q * grid.from_q,
                            to + p * grid.to_p + q * grid.to_q, grid.bytes);
      }
    }
  }
}

}  // namespace

void move_blocks_on_target(const BlockGrid& grid, const void* from, void* to, bool stream) {
  const auto* source = static_cast<const std::uint8_t*>(from);
  auto* target = static_cast<std::uint8_t*>(to);
  if (stream)
    move_grid<true>(grid, source, target);
  else
    move_grid<false>(grid, source, target);
}

void transpose_plane_on_target(const Plane& plane, const void* from, void* to, bool stream) {
  switch (plane.element_bytes) {
    case 1:
      return move_typed<std::uint8_t>(plane, from, to, stream);
    case 2:
      return move_typed<std::uint16_t>(plane, from, to, stream);
    case 4:
      return move_typed<std::uint32_t>(plane, from, to, stream);
    default:
      return move_typed<std::uint64_t>(plane, from, to, stream);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(transpose_plane_on_target);
HWY_EXPORT(move_blocks_on_target);

void transpose_plane(const Plane& plane, const void* from, void* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(transpose_plane_on_target)(plane, from, to, stream);
}

void move_blocks(const BlockGrid& grid, const void* from, void* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(move_blocks_on_target)(grid, from, to, stream);
}

}  // namespace opbench
#endif  // HWY_ONCE
