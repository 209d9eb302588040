#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/plane.cc"
#include "kernels/copy/plane.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/copy/widen-inl.h"

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

// One element of every row. Transposing more elements of the lines would save nothing: there are as
// many lines as elements.
template <class T>
void pick_elements(const Plane& p, const T* from, T* to) {
  const std::int64_t valid = std::min(p.valid, p.nb);
  for (std::int64_t b = 0; b < valid; ++b) to[b] = from[b * p.from_stride];
  std::fill(to + valid, to + p.nb, T{0});
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// The places of rows of the input, from the first on. Rows that do not exist get the place of the
// last one.
template <int kCount>
struct RowPlaces {
  RowPlaces(const Plane& p, std::int64_t b) {
    for (std::int64_t i = 0; i < kCount; ++i) at[i] = std::min(b + i, p.valid - 1) * p.from_stride;
  }

  std::int64_t at[kCount];
};

// kSquares squares of elements side by side along b, each in the 128-bit blocks of a vector: row i
// of the input is at the same place in every block. Interleaving works within blocks, so all
// squares are transposed at once. A vector then holds consecutive elements of one row of the
// output: a whole cache line if kSquares is 4.
template <class T, int kSquares>
class Squares {
 public:
  static constexpr std::int64_t kSide = 16 / sizeof(T);
  using D = hn::FixedTag<T, kSquares * kSide>;
  using V = hn::Vec<D>;

  // An implicit constructor may not call that of a vector: GCC gives it no instruction set (Arm).
  HWY_INLINE Squares() {}

  // `places` has kSquares * kSide rows.
  HWY_INLINE void load(const T* from, const std::int64_t* places) {
    for (std::int64_t i = 0; i < kSide; ++i) rows_[i] = blocks<kSquares>(from, places + i);
  }

  // Interleaving row i with row i + side/2 moves one bit of the row number into the column number.
  // After log2(side) such steps rows and columns are exchanged.
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

  // Zeros all lanes from `count` on, in all rows of the output.
  HWY_INLINE void keep(std::int64_t count) {
    const auto kept = hn::FirstN(D(), static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
    for (V& row : rows_) row = hn::IfThenElseZero(kept, row);
  }

  // Stores rows [begin, end), filled with zeros up to the width of kBlocks squares.
  template <bool kStream, int kBlocks>
  HWY_INLINE void store(T* to, std::int64_t stride, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = 0; i < kSide; ++i) {
      if (begin <= i && i < end)
        store_row<kStream>(widened<kBlocks * kSide>(rows_[i]), to + i * stride);
    }
  }

 private:
  // Loads the first row of `places` and every kSide-th after it, one in each block.
  template <int kBlocks>
  static HWY_INLINE auto blocks(const T* from, const std::int64_t* places) {
    const hn::FixedTag<T, kBlocks * kSide> d;
    if constexpr (kBlocks == 1) {
      return hn::LoadU(d, from + *places);
    } else {
      constexpr int kHalf = kBlocks / 2;
      return hn::Combine(d, blocks<kHalf>(from, places + kHalf * kSide),
                         blocks<kHalf>(from, places));
    }
  }

  template <bool kStream, class Row>
  static HWY_INLINE void store_row(Row row, T* to) {
    const hn::DFromV<Row> d;
    if constexpr (kStream)
      hn::Stream(row, d, to);
    else
      hn::StoreU(row, d, to);
  }

  V rows_[kSide];
};

// kSquares squares from b on, written with the width of kBlocks, for all of [part.a, part.a + na).
// `places` has their rows, from row b on. kMasked: some rows do not exist; these are the first.
template <class T, bool kStream, int kSquares, int kBlocks, bool kMasked>
HWY_INLINE void walk_squares(const Plane& p, const Part& part, std::int64_t b,
                             const std::int64_t* places, const T* from, T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  const std::int64_t stride = p.to_stride, valid = p.valid - b;
  const std::int64_t end = part.a + part.na;
  const T* const source = kMasked ? from : from + b * p.from_stride;
  T* target = to + part.a * stride + b;
  const auto move = [&](const T* in, T* out, std::int64_t begin, std::int64_t behind) HWY_ATTR {
    Squares<T, kSquares> squares;
    squares.load(in, places);
    squares.transpose();
    if constexpr (kMasked) squares.keep(valid);
    squares.template store<kStream, kBlocks>(out, stride, begin, behind);
  };
  std::int64_t a = part.a;
  for (; a + kSide <= end; a += kSide, target += kSide * stride) move(source + a, target, 0, kSide);
  if (a == end) return;
  const std::int64_t skipped = a + kSide - end;
  if (a + kSide <= p.readable)
    move(source + a, target, 0, end - a);
  else if (skipped <= a)  // together with earlier rows of the output, which are not stored again
    move(source + a - skipped, target - skipped * stride, skipped, kSide);
  else
    move_elements(p, {a, end - a, b, kBlocks * kSide}, from, to);
}

// Elements along b from b on that fill kSquares squares, for all of [part.a, part.a + na). `places`
// has the rows from b on, which all exist.
template <class T, bool kStream, int kSquares>
HWY_INLINE void move_squares(const Plane& p, const Part& part, std::int64_t b,
                             const std::int64_t* places, const T* from, T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  const std::int64_t valid = p.valid - b;
  if (valid >= kSquares * kSide) {
    walk_squares<T, kStream, kSquares, kSquares, false>(p, part, b, places, from, to);
  } else if (valid <= kSide) {  // as one square, with zeros after its rows
    const RowPlaces<kSide> some(p, b);
    walk_squares<T, kStream, 1, kSquares, true>(p, part, b, some.at, from, to);
  } else {
    const RowPlaces<kSquares * kSide> some(p, b);
    walk_squares<T, kStream, kSquares, kSquares, true>(p, part, b, some.at, from, to);
  }
}

// Prefetches the lines of the next plane at rows [b, b + nb), for position `a` of this plane.
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
void move_part(const Plane& p, const Part& part, bool fetches, const std::int64_t* places,
               const T* from, T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  const std::int64_t end = part.b + part.nb;
  std::int64_t b = part.b;
  if constexpr (kMostBlocks >= 4) {
    for (; b + 4 * kSide <= end; b += 4 * kSide) {
      if (fetches) fetch_next<T>(p, part.a, b, 4 * kSide);
      move_squares<T, kStream, 4>(p, part, b, places, from, to);
    }
  }
  // Half lines of the output: both are written before the next, so that few lines are incomplete.
  if constexpr (kStream && kMostBlocks == 2) {
    for (; b + 4 * kSide <= end; b += 4 * kSide) {
      if (fetches) fetch_next<T>(p, part.a, b, 4 * kSide);
      for (std::int64_t a = part.a; a < part.a + part.na; a += kSide) {
        const Part rows{a, std::min(kSide, part.a + part.na - a), 0, 0};
        move_squares<T, true, 2>(p, rows, b, places, from, to);
        move_squares<T, true, 2>(p, rows, b + 2 * kSide, places, from, to);
      }
    }
  }
  if constexpr (kMostBlocks >= 2) {
    for (; b + 2 * kSide <= end; b += 2 * kSide) {
      if (fetches) fetch_next<T>(p, part.a, b, 2 * kSide);
      move_squares<T, kStream, 2>(p, part, b, places, from, to);
    }
  }
  for (; b + kSide <= end; b += kSide) {
    move_squares<T, kStream, 1>(p, part, b, places, from, to);
  }
  if (b == end) return;
  // The last elements are stored together with those before them, which is faster than one by one.
  if (!kStream && p.nb >= kSide && p.valid == p.nb)
    move_squares<T, false, 1>(p, part, p.nb - kSide, places, from, to);
  else
    move_elements(p, {part.a, part.na, b, end - b}, from, to);
}

// Bands as wide as a cache line of the input, or of the output if that has wider rows: every line
// is read and written completely while it is in the cache. Rows of the output that are at most a
// vector wide need no bands.
template <class T, bool kStream>
void move_plane(const Plane& p, const T* from, T* to) {
  constexpr std::int64_t kBlock = 64 / sizeof(T), kVector = kMostBlocks * 16 / sizeof(T);
  // The hardware prefetcher follows few rows, and rows longer than a page.
  constexpr std::int64_t kFewRows = 8, kLong = 4096 / sizeof(T);
  if (p.valid <= 0) return move_elements(p, {0, p.na, 0, p.nb}, from, to);
  const bool fetches = p.next != nullptr && p.valid > kFewRows && p.na <= kLong;
  const std::int64_t band = fetches || p.nb > kVector ? kBlock : p.na;
  std::int64_t places[kVector];
  for (std::int64_t i = 0; i < kVector; ++i) places[i] = i * p.from_stride;
  for (std::int64_t a = 0; a < p.na; a += band) {
    move_part<T, kStream>(p, {a, std::min(band, p.na - a), 0, p.nb}, fetches, places, from, to);
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
  if (p.na == 1) return pick_elements(p, static_cast<const T*>(from), static_cast<T*>(to));
  if (stream)
    move_plane<T, true>(p, static_cast<const T*>(from), static_cast<T*>(to));
  else
    move_plane<T, false>(p, static_cast<const T*>(from), static_cast<T*>(to));
}

}  // namespace

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

void transpose_plane(const Plane& plane, const void* from, void* to, bool stream) {
  if (is_thin(plane)) return transpose_thin_plane(plane, from, to, stream);
  HWY_DYNAMIC_DISPATCH(transpose_plane_on_target)(plane, from, to, stream);
}

}  // namespace opbench
#endif  // HWY_ONCE
