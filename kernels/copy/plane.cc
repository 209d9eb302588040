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

  // Stores all rows, filled with zeros up to the width of kBlocks squares.
  template <int kBlocks>
  HWY_INLINE void store(T* to, std::int64_t stride, bool stream) const {
    if (stream) return store_all<true, kBlocks>(to, stride);
    store_all<false, kBlocks>(to, stride);
  }
  // Stores rows [begin, end).
  template <int kBlocks>
  HWY_INLINE void store_some(T* to, std::int64_t stride, bool stream, std::int64_t begin,
                             std::int64_t end) const {
    for (std::int64_t i = 0; i < kSide; ++i) {  // unrolled, so that rows stay in registers
      if (i < begin || end <= i) continue;
      const auto row = widened<kBlocks * kSide>(rows_[i]);
      stream ? store_row<true>(row, to + i * stride) : store_row<false>(row, to + i * stride);
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

  template <bool kStream, int kBlocks>
  HWY_INLINE void store_all(T* to, std::int64_t stride) const {
    for (std::int64_t i = 0; i < kSide; ++i) {
      store_row<kStream>(widened<kBlocks * kSide>(rows_[i]), to + i * stride);
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

// A transposition with elements of type T.
template <class T>
class Mover {
 public:
  Mover(const Plane& plane, const T* from, T* to, bool stream)
      : p_(plane),
        from_(from),
        to_(to),
        stream_(stream),
        is_crowded_(plane.is_cached && plane.from_stride % kPage == 0) {
    for (std::int64_t i = 0; i < std::min(kLine, p_.nb); ++i) places_[i] = i * p_.from_stride;
  }

  // Bands as wide as a cache line of the input, or of the output if that has wider rows: every line
  // is read and written completely while it is in the cache. Rows of the output that are at most a
  // vector wide need no bands.
  void run() const {
    // The hardware prefetcher follows few rows, and rows longer than a page.
    constexpr std::int64_t kFewRows = 8, kLong = 4096 / sizeof(T);
    const bool fetches = p_.next != nullptr && p_.valid > kFewRows && p_.na <= kLong;
    const std::int64_t band = fetches || p_.nb > kLine ? kLine : p_.na;
    for (std::int64_t a = 0; a < p_.na; a += band) {
      move_band(a, std::min(a + band, p_.na), fetches);
    }
  }

 private:
  static constexpr std::int64_t kSide = 16 / sizeof(T), kLine = 64 / sizeof(T),
                                kPage = 4096 / sizeof(T);

  void move_band(std::int64_t a, std::int64_t end, bool fetches) const {
    // Whole lines of the output, so that few lines are incomplete.
    std::int64_t b = 0;
    if (!is_crowded_) b = move_columns<kMostBlocks, 4 / kMostBlocks>(a, end, 0, fetches);
    if constexpr (kMostBlocks >= 2) b = move_columns<2, 1>(a, end, b, fetches);
    b = move_columns<1, 1>(a, end, b, fetches);
    if (b == p_.nb) return;
    // The last elements are stored together with those before them, which is faster than one by
    // one.
    if (!stream_ && p_.nb >= kSide && p_.valid == p_.nb)
      move_columns<1, 1>(a, end, p_.nb - kSide, fetches);
    else
      move_elements(p_, {a, end - a, b, p_.nb - b}, from_, to_);
  }

  // Moves elements [a, end) along a, from b on along b, in columns of kVectors vectors of kSquares
  // squares as long as they fit. Returns the end along b.
  template <int kSquares, int kVectors>
  std::int64_t move_columns(std::int64_t a, std::int64_t end, std::int64_t b, bool fetches) const {
    constexpr std::int64_t kWidth = kVectors * kSquares * kSide;
    for (; b + kWidth <= p_.nb; b += kWidth) {
      if (fetches) fetch_next(a, b, kWidth);
      const std::int64_t valid = p_.valid - b;
      const T* const from = from_ + b * p_.from_stride;
      if (valid >= kWidth) {
        walk_squares<kSquares, kSquares, kVectors, false>(a, end, b, from, places_);
        continue;
      }
      // Rows that do not exist get the place of the last one.
      std::int64_t some[kLine];
      for (std::int64_t i = 0; i < kWidth; ++i) some[i] = std::min(i, valid - 1) * p_.from_stride;
      // Few rows are one square, with zeros after its rows.
      if (valid <= kSide)
        walk_squares<1, kSquares, kVectors, true>(a, end, b, from, some);
      else
        walk_squares<kSquares, kSquares, kVectors, true>(a, end, b, from, some);
    }
    return b;
  }

  // Prefetches the lines of the next plane.
  void fetch_next(std::int64_t a, std::int64_t b, std::int64_t width) const {
    const T* next = static_cast<const T*>(p_.next) + a;
    const std::int64_t end = std::min(b + width, p_.valid);
    const std::int64_t rows_per_line =
        std::max<std::int64_t>(1, kLine / std::max<std::int64_t>(1, p_.from_stride));
    for (std::int64_t row = b; row < end; row += rows_per_line) {
      hwy::Prefetch(next + row * p_.from_stride);
    }
  }

  // The rows of a column are at from + places[i]. Squares are written with the width of kBlocks.
  // Not inlined, because a transposition is many instructions for the compiler.
  template <int kSquares, int kBlocks, int kVectors, bool kMasked>
  HWY_NOINLINE void walk_squares(std::int64_t a, std::int64_t end, std::int64_t b, const T* from,
                                 const std::int64_t* places) const {
    constexpr std::int64_t kWidth = kVectors * kBlocks * kSide;
    const std::int64_t stride = p_.to_stride, valid = p_.valid - b;
    const bool stream = stream_;
    const auto move = [=, to = to_ + b](std::int64_t first, auto store) HWY_ATTR {
      for (std::int64_t i = 0; i < kWidth; i += kBlocks * kSide) {
        Squares<T, kSquares> squares;
        squares.load(from + first, places + i);
        squares.transpose();
        if constexpr (kMasked) squares.keep(valid - i);
        store(squares, to + first * stride + i);
      }
    };
    for (; a + kSide <= end; a += kSide) {
      move(a, [=](const auto& squares, T* out)
                  HWY_ATTR { squares.template store<kBlocks>(out, stride, stream); });
    }
    if (a == end) return;
    // With elements that are not stored: the next of the input, or earlier ones.
    const std::int64_t first = a + kSide <= p_.readable ? a : end - kSide;
    if (first < 0) return move_elements(p_, {a, end - a, b, kWidth}, from_, to_);
    move(first, [=](const auto& squares, T* out) HWY_ATTR {
      squares.template store_some<kBlocks>(out, stride, stream, a - first, end - first);
    });
  }

  const Plane& p_;
  const T* from_;
  T* to_;
  bool stream_;
  // Rows that are whole pages apart share a set of the first-level cache, which holds few lines.
  // More rows at a time are faster only if they come from further away.
  bool is_crowded_;
  std::int64_t places_[kLine];  ///< of rows
};

template <class T>
void move_plane(const Plane& p, const T* from, T* to, bool stream) {
  if (p.valid <= 0) return move_elements(p, {0, p.na, 0, p.nb}, from, to);
  Mover<T>(p, from, to, stream).run();
}

#else

template <class T>
void move_plane(const Plane& p, const T* from, T* to, bool) {
  move_elements(p, {0, p.na, 0, p.nb}, from, to);
}

#endif

template <class T>
void move_typed(const Plane& p, const void* from, void* to, bool stream) {
  if (p.na == 1) return pick_elements(p, static_cast<const T*>(from), static_cast<T*>(to));
  move_plane(p, static_cast<const T*>(from), static_cast<T*>(to), stream);
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
