#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/plane.cc"
#include "kernels/move/plane.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

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

// One element of every row. The lines that are read are as many as the elements: nothing is won by
// transposing their other elements with them.
template <class T>
void pick_elements(const Plane& p, const T* from, T* to) {
  const std::int64_t valid = std::min(p.valid, p.nb);
  for (std::int64_t b = 0; b < valid; ++b) to[b] = from[b * p.from_stride];
  std::fill(to + valid, to + p.nb, T{0});
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

  // Rows [begin, end), with zeros behind what they hold up to as much as kBlocks squares do.
  template <bool kStream, int kBlocks>
  HWY_INLINE void store(T* to, std::int64_t stride, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = 0; i < kSide; ++i) {
      if (begin <= i && i < end) store_row<kStream>(widened<kBlocks>(rows_[i]), to + i * stride);
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

  template <int kBlocks>
  static HWY_INLINE auto widened(V row) {
    if constexpr (kBlocks == kSquares)
      return row;
    else
      return hn::ZeroExtendVector(hn::FixedTag<T, kBlocks * kSide>(), widened<kBlocks / 2>(row));
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

// Squares that fit a vector of this instruction set.
inline constexpr int kMostSquares = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86   ? 4
                                    : HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86 ? 2
                                                                             : 1;

// As many elements along b as kSquares squares hold, from b on, for all of [part.a, part.a + na).
template <class T, bool kStream, int kSquares>
HWY_INLINE void move_squares(const Plane& p, const Part& part, std::int64_t b, const T* from,
                             T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  const std::int64_t valid = p.valid - b;
  const std::int64_t end = part.a + part.na;
  for (std::int64_t a = part.a; a < end; a += kSide) {
    // The last rows of the output come with those before them, which are not stored again.
    const std::int64_t skipped = a + kSide <= end || p.na < kSide ? 0 : a + kSide - end;
    const std::int64_t first = a - skipped;
    if (first + kSide > p.readable) {
      move_elements(p, {a, end - a, b, kSquares * kSide}, from, to);
      continue;
    }
    const T* source = from + b * p.from_stride + first;
    T* const target = to + first * p.to_stride + b;
    const auto move = [&](auto squares, auto all_valid) HWY_ATTR {
      squares.template load<decltype(all_valid)::value>(source, p.from_stride, valid);
      squares.transpose();
      if (skipped == 0 && a + kSide <= end)
        squares.template store<kStream, kSquares>(target, p.to_stride, 0, kSide);
      else
        squares.template store<kStream, kSquares>(target, p.to_stride, skipped, end - first);
    };
    if (valid >= kSquares * kSide)
      move(Squares<T, kSquares>(), std::true_type());
    else if (valid <= kSide)  // as one square, whose rows have zeros behind them
      move(Squares<T, 1>(), std::false_type());
    else
      move(Squares<T, kSquares>(), std::false_type());
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
  // A few rows, and those longer than a page, the hardware follows by itself.
  constexpr std::int64_t kFewRows = 8, kLong = 4096 / sizeof(T);
  const bool fetches = p.next != nullptr && p.valid > kFewRows && p.na <= kLong;
  const std::int64_t end = part.b + part.nb;
  std::int64_t b = part.b;
  if constexpr (kMostSquares >= 4) {
    for (; b + 4 * kSide <= end; b += 4 * kSide) {
      if (fetches) fetch_next<T>(p, part.a, b, 4 * kSide);
      move_squares<T, kStream, 4>(p, part, b, from, to);
    }
  }
  if constexpr (kMostSquares >= 2) {
    for (; b + 2 * kSide <= end; b += 2 * kSide) {
      if (fetches) fetch_next<T>(p, part.a, b, 2 * kSide);
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
