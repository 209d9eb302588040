#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/plane.cc"
#include "kernels/move/plane.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/move/thin_plane.h"

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

// kSquares squares of elements side by side along b, each in the 128-bit blocks of a vector: row i
// of the input at the same place in every block. Interleaving works within blocks, so all squares
// are transposed at once, and a vector then holds consecutive elements of one row of the output: a
// whole cache line where kSquares is 4.
template <class T, int kSquares>
class Squares {
 public:
  static constexpr std::int64_t kSide = 16 / sizeof(T);
  using D = hn::FixedTag<T, kSquares * kSide>;
  using V = hn::Vec<D>;

  // Rows from `valid` on are zeros.
  template <bool kAllValid>
  HWY_INLINE void load(const T* from, std::int64_t stride, std::int64_t valid) {
    for (std::int64_t i = 0; i < kSide; ++i) {
      rows_[i] = blocks<kAllValid, kSquares>(from, stride, i, valid);
    }
  }

  // Interleaving row i with row i + side/2 moves one bit of the row number into the column number;
  // after log2(side) times they have changed places.
  HWY_INLINE void transpose() {
    for (std::int64_t step = 1; step < kSide; step *= 2) {
      V next[kSide];
      for (std::int64_t i = 0; i < kSide / 2; ++i) {
        next[2 * i] = hn::InterleaveLower(D(), rows_[i], rows_[i + kSide / 2]);
        next[2 * i + 1] = hn::InterleaveUpper(D(), rows_[i], rows_[i + kSide / 2]);
      }
      for (std::int64_t i = 0; i < kSide; ++i) rows_[i] = next[i];
    }
  }

  template <bool kStream>
  HWY_INLINE void store(T* to, std::int64_t stride) const {
    for (std::int64_t i = 0; i < kSide; ++i) store_row<kStream>(i, to + i * stride);
  }
  template <bool kStream>
  HWY_INLINE void store_some(T* to, std::int64_t stride, std::int64_t begin,
                             std::int64_t end) const {
    for (std::int64_t i = 0; i < kSide; ++i) {
      if (begin <= i && i < end) store_row<kStream>(i, to + i * stride);
    }
  }

 private:
  // Row `row`, row + kSide, ... of the input, one in each block.
  template <bool kAllValid, int kBlocks>
  static HWY_INLINE auto blocks(const T* from, std::int64_t stride, std::int64_t row,
                                std::int64_t valid) {
    const hn::FixedTag<T, kBlocks * kSide> d;
    if constexpr (kBlocks == 1) {
      return kAllValid || row < valid ? hn::LoadU(d, from + row * stride) : hn::Zero(d);
    } else {
      constexpr int kHalf = kBlocks / 2;
      return hn::Combine(d, blocks<kAllValid, kHalf>(from, stride, row + kHalf * kSide, valid),
                         blocks<kAllValid, kHalf>(from, stride, row, valid));
    }
  }

  template <bool kStream>
  HWY_INLINE void store_row(std::int64_t i, T* to) const {
    if constexpr (kStream)
      hn::Stream(rows_[i], D(), to);
    else
      hn::StoreU(rows_[i], D(), to);
  }

  V rows_[kSide];
};

// Squares that fit a vector of this instruction set.
inline constexpr int kMostSquares = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86   ? 4
                                    : HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86 ? 2
                                                                             : 1;

// As many elements along b as kSquares squares hold, from b on, for all of [part.a, part.a + na).
template <class T, bool kStream, int kSquares>
HWY_INLINE void move_squares(const Plane& p, const Part& part, std::int64_t b, const T* from,
                             T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  const bool all_valid = b + kSquares * kSide <= p.valid;
  const std::int64_t end = part.a + part.na;
  for (std::int64_t a = part.a; a < end; a += kSide) {
    // The last rows of the output come with those before them, which are not stored again.
    const std::int64_t skipped = a + kSide <= end || p.na < kSide ? 0 : a + kSide - end;
    const std::int64_t first = a - skipped;
    if (first + kSide > p.readable) {
      move_elements(p, {a, end - a, b, kSquares * kSide}, from, to);
      continue;
    }
    Squares<T, kSquares> squares;
    const T* source = from + b * p.from_stride + first;
    if (all_valid)
      squares.template load<true>(source, p.from_stride, 0);
    else
      squares.template load<false>(source, p.from_stride, p.valid - b);
    squares.transpose();
    T* const target = to + first * p.to_stride + b;
    if (skipped == 0 && a + kSide <= end)
      squares.template store<kStream>(target, p.to_stride);
    else
      squares.template store_some<kStream>(target, p.to_stride, skipped, end - first);
  }
}

// The lines of the next plane at rows [b, b + nb), where this one is at `a`.
template <class T>
HWY_INLINE void fetch_next(const Plane& p, std::int64_t a, std::int64_t b, std::int64_t nb) {
  const T* next = static_cast<const T*>(p.next) + a;
  const std::int64_t end = std::min(b + nb, p.valid);
  const std::int64_t rows_per_line = std::max<std::int64_t>(
      1, 64 / static_cast<std::int64_t>(sizeof(T)) / std::max<std::int64_t>(1, p.from_stride));
  for (std::int64_t row = b; row < end; row += rows_per_line) {
    hwy::Prefetch(next + row * p.from_stride);
  }
}

template <class T, bool kStream>
void move_part(const Plane& p, const Part& part, const T* from, T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  const std::int64_t end = part.b + part.nb;
  std::int64_t b = part.b;
  if constexpr (kMostSquares >= 4) {
    for (; b + 4 * kSide <= end; b += 4 * kSide) {
      if (p.next != nullptr) fetch_next<T>(p, part.a, b, 4 * kSide);
      move_squares<T, kStream, 4>(p, part, b, from, to);
    }
  }
  if constexpr (kMostSquares >= 2) {
    for (; b + 2 * kSide <= end; b += 2 * kSide) {
      if (p.next != nullptr) fetch_next<T>(p, part.a, b, 2 * kSide);
      move_squares<T, kStream, 2>(p, part, b, from, to);
    }
  }
  for (; b + kSide <= end; b += kSide) move_squares<T, kStream, 1>(p, part, b, from, to);
  if (b == end) return;
  // The last elements once more with those before them, rather than one by one.
  if (!kStream && p.nb >= kSide && p.valid == p.nb)
    move_squares<T, false, 1>(p, part, p.nb - kSide, from, to);
  else
    move_elements(p, {part.a, part.na, b, end - b}, from, to);
}

// Bands as wide as a cache line of the input, and of the output where that has wider rows, so that
// every line is read and written whole while it is at hand.
template <class T, bool kStream>
void move_plane(const Plane& p, const T* from, T* to) {
  constexpr std::int64_t kBlock = 64 / sizeof(T);
  for (std::int64_t a = 0; a < p.na; a += kBlock) {
    move_part<T, kStream>(p, {a, std::min(kBlock, p.na - a), 0, p.nb}, from, to);
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

// `bytes` in vectors of up to kUnit bytes.
template <bool kStream, int kUnit>
HWY_INLINE void move_block(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes) {
  const hn::CappedTag<std::uint8_t, kUnit> d;
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

template <bool kStream, int kUnit>
void move_grid(const BlockGrid& grid, const std::uint8_t* from, std::uint8_t* to) {
  // Blocks along p that are moved for every q: as many streams of reads as the hardware follows.
  // Fetched ahead: further along q, or where q is short what the next ones along p begin with.
  constexpr std::int64_t kNeighbours = 8, kShort = 4 << 10, kAhead = 16;
  const bool is_short = grid.nq * grid.bytes <= kShort;
  const std::int64_t ahead = is_short ? kNeighbours * grid.from_p : kAhead * grid.from_q;
  for (std::int64_t p0 = 0; p0 < grid.np; p0 += kNeighbours) {
    const std::int64_t end = std::min(p0 + kNeighbours, grid.np);
    for (std::int64_t q = 0; q < grid.nq; ++q) {
      for (std::int64_t p = p0; p < end; ++p) {
        const std::uint8_t* source = from + p * grid.from_p + q * grid.from_q;
        hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(
            reinterpret_cast<std::uintptr_t>(source) + static_cast<std::uintptr_t>(ahead)));
        move_block<kStream, kUnit>(source, to + p * grid.to_p + q * grid.to_q, grid.bytes);
      }
    }
  }
}

}  // namespace

void move_blocks_on_target(const BlockGrid& grid, const void* from, void* to, bool stream) {
  const auto* source = static_cast<const std::uint8_t*>(from);
  auto* target = static_cast<std::uint8_t*>(to);
  if (!stream) {
    if (grid.bytes % 64 == 0) return move_grid<false, 64>(grid, source, target);
    if (grid.bytes % 32 == 0) return move_grid<false, 32>(grid, source, target);
    return move_grid<false, 16>(grid, source, target);
  }
  // Streamed vectors lie at multiples of their size.
  const std::int64_t places =
      grid.bytes | grid.to_p | grid.to_q | reinterpret_cast<std::intptr_t>(to);
  if (places % 64 == 0)
    move_grid<true, 64>(grid, source, target);
  else if (places % 32 == 0)
    move_grid<true, 32>(grid, source, target);
  else
    move_grid<true, 16>(grid, source, target);
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
  if (is_thin(plane)) return transpose_thin_plane(plane, from, to, stream);
  HWY_DYNAMIC_DISPATCH(transpose_plane_on_target)(plane, from, to, stream);
}

void move_blocks(const BlockGrid& grid, const void* from, void* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(move_blocks_on_target)(grid, from, to, stream);
}

}  // namespace opbench
#endif  // HWY_ONCE
