#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tensor/dtype.h"
#include "tensor/element_map.h"

namespace opbench {
namespace {

/// Lanes [first_lane, first_lane + lanes) of `pixels` consecutive pixels of one (n, c1) slab, or of
/// any storage with pixels that are c0 elements apart and complete.
struct SlabPart {
  std::int64_t c0 = 16;
  std::int64_t first_lane = 0;
  int lanes = 0;
  std::int64_t pixels = 0;
  std::int64_t plain_stride = 0;  ///< elements from one channel to the next in the plain layout
};

/// A square of elements with rows that fill a 128-bit vector, which every supported CPU has.
template <class T>
class Tile {
 public:
  static constexpr int kSide = 16 / sizeof(T);

  void load_row(int row, const T* from) { std::memcpy(&rows_[row], from, sizeof(Row)); }
  void store_row(int row, T* to) const { std::memcpy(to, &rows_[row], sizeof(Row)); }

  // Interleaving row i with row i + side/2 moves one bit of the row number into the column number.
  // After log2(side) such steps rows and columns are exchanged.
  void transpose() {
    for (int step = 1; step < kSide; step *= 2) {
      Row next[kSide];
      for (int i = 0; i < kSide / 2; ++i) {
        next[2 * i] = interleave<0>(rows_[i], rows_[i + kSide / 2], kColumns);
        next[2 * i + 1] = interleave<kSide / 2>(rows_[i], rows_[i + kSide / 2], kColumns);
      }
      std::copy(next, next + kSide, rows_);
    }
  }

 private:
  typedef T Row __attribute__((vector_size(16)));
  static constexpr std::make_integer_sequence<int, kSide> kColumns{};

  template <int kFirst, int... kColumn>
  static Row interleave(Row a, Row b, std::integer_sequence<int, kColumn...>) {
    return __builtin_shufflevector(a, b, (kFirst + kColumn / 2 + kColumn % 2 * kSide)...);
  }

  Row rows_[kSide];
};

/// Pixels [begin, end) of lanes [lane, lane + lanes).
struct Rectangle {
  int lane;
  int lanes;
  std::int64_t begin;
  std::int64_t end;
};

/// Calls `visit` for the rectangles of a part. One cache line of each channel is finished before
/// the next begins. `lanes` counts from 0 at first_lane.
template <class T, class Visit>
void for_each_rectangle(int lanes, std::int64_t pixels, Visit visit) {
  constexpr int kSide = Tile<T>::kSide;
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t begin = 0; begin < pixels; begin += kLine) {
    for (int lane = 0; lane < lanes; lane += kSide) {
      visit(Rectangle{.lane = lane,
                      .lanes = std::min(kSide, lanes - lane),
                      .begin = begin,
                      .end = std::min(begin + kLine, pixels)});
    }
  }
}

template <class T>
void to_plain(const SlabPart& part, const T* slab, T* plain) {
  constexpr int kSide = Tile<T>::kSide;
  slab += part.first_lane;
  for_each_rectangle<T>(part.lanes, part.pixels, [&](const Rectangle& r) {
    std::int64_t pixel = r.begin;
    // A whole row, padding lanes included, can be loaded if it stays inside the pixel.
    const bool loadable = part.first_lane + r.lane + kSide <= part.c0;
    for (; loadable && pixel + kSide <= r.end; pixel += kSide) {
      Tile<T> tile;
      for (int i = 0; i < kSide; ++i) tile.load_row(i, slab + (pixel + i) * part.c0 + r.lane);
      tile.transpose();
      for (int i = 0; i < r.lanes; ++i) {
        tile.store_row(i, plain + (r.lane + i) * part.plain_stride + pixel);
      }
    }
    for (int lane = r.lane; lane < r.lane + r.lanes; ++lane) {
      for (std::int64_t p = pixel; p < r.end; ++p) {
        plain[lane * part.plain_stride + p] = slab[p * part.c0 + lane];
      }
    }
  });
}

template <class T>
void from_plain(const SlabPart& part, const T* plain, T* slab) {
  constexpr int kSide = Tile<T>::kSide;
  slab += part.first_lane;
  for_each_rectangle<T>(part.lanes, part.pixels, [&](const Rectangle& r) {
    std::int64_t pixel = r.begin;
    for (; r.lanes == kSide && pixel + kSide <= r.end; pixel += kSide) {
      Tile<T> tile;
      for (int i = 0; i < kSide; ++i) {
        tile.load_row(i, plain + (r.lane + i) * part.plain_stride + pixel);
      }
      tile.transpose();
      for (int i = 0; i < kSide; ++i) tile.store_row(i, slab + (pixel + i) * part.c0 + r.lane);
    }
    for (int lane = r.lane; lane < r.lane + r.lanes; ++lane) {
      for (std::int64_t p = pixel; p < r.end; ++p) {
        slab[p * part.c0 + lane] = plain[lane * part.plain_stride + p];
      }
    }
  });
}

// With one pixel the layouts differ by the padding only.
bool is_straight_copy(const SlabPart& part) { return part.pixels == 1 && part.plain_stride == 1; }

void copy_straight(const SlabPart& part, const void* from, std::size_t from_lane, void* to,
                   std::size_t to_lane, std::size_t element_bytes) {
  std::memcpy(static_cast<std::byte*>(to) + to_lane * element_bytes,
              static_cast<const std::byte*>(from) + from_lane * element_bytes,
              static_cast<std::size_t>(part.lanes) * element_bytes);
}

// Copies between slab[pixel * c0 + first_lane + lane] and plain[lane * plain_stride + pixel], on
// one thread; other lanes are unchanged. `element_bytes` is 1, 2, 4 or 8.
void slab_to_plain(const SlabPart& part, const void* slab, void* plain, std::size_t element_bytes) {
  if (is_straight_copy(part)) {
    return copy_straight(part, slab, part.first_lane, plain, 0, element_bytes);
  }
  visit_width(element_bytes, [&]<class T>(T) {
    to_plain(part, static_cast<const T*>(slab), static_cast<T*>(plain));
  });
}

void slab_from_plain(const SlabPart& part, const void* plain, void* slab,
                     std::size_t element_bytes) {
  if (is_straight_copy(part)) {
    return copy_straight(part, plain, 0, slab, part.first_lane, element_bytes);
  }
  visit_width(element_bytes, [&]<class T>(T) {
    from_plain(part, static_cast<const T*>(plain), static_cast<T*>(slab));
  });
}

template <class T>
void gather(const ElementRectangle& r, const T* stored, T* logical) {
  for (std::int64_t lane = 0; lane < r.lanes; ++lane) {
    const T* const from = stored + lane * r.lane_stride;
    T* const to = logical + lane * r.logical_stride;
    for (std::int64_t i = 0; i < r.pixels; ++i) to[i] = from[i * r.pixel_stride];
  }
}

template <class T>
void scatter(const ElementRectangle& r, const T* logical, T* stored) {
  for (std::int64_t lane = 0; lane < r.lanes; ++lane) {
    const T* const from = logical + lane * r.logical_stride;
    T* const to = stored + lane * r.lane_stride;
    for (std::int64_t i = 0; i < r.pixels; ++i) to[i * r.pixel_stride] = from[i];
  }
}

bool is_slab(const ElementRectangle& r) {
  return r.lanes > 1 && r.lane_stride == 1 && r.pixel_stride > 1;
}

/// Pixels start at offsets that `pixel_stride` divides, in every format.
SlabPart slab_part(const ElementRectangle& r) {
  return {.c0 = r.pixel_stride,
          .first_lane = r.stored % r.pixel_stride,
          .lanes = static_cast<int>(r.lanes),
          .pixels = r.pixels,
          .plain_stride = r.logical_stride};
}

template <class T>
void read_lanes(const ElementRectangle& r, const T* storage, T* to) {
  to += r.logical;
  if (r.pixel_stride == 1) {
    for (std::int64_t i = 0; i < r.lanes; ++i) {
      std::copy_n(storage + r.stored + i * r.lane_stride, r.pixels, to + i * r.logical_stride);
    }
  } else if (is_slab(r)) {
    const SlabPart part = slab_part(r);
    slab_to_plain(part, storage + r.stored - part.first_lane, to, sizeof(T));
  } else {
    gather(r, storage + r.stored, to);
  }
}

template <class T>
void write_lanes(const ElementRectangle& r, const T* from, T* storage) {
  from += r.logical;
  if (r.pixel_stride == 1) {
    for (std::int64_t i = 0; i < r.lanes; ++i) {
      std::copy_n(from + i * r.logical_stride, r.pixels, storage + r.stored + i * r.lane_stride);
    }
  } else if (is_slab(r)) {
    const SlabPart part = slab_part(r);
    slab_from_plain(part, from, storage + r.stored - part.first_lane, sizeof(T));
  } else {
    scatter(r, from, storage + r.stored);
  }
}

}  // namespace

void read_rectangle(const ElementRectangle& rectangle, const void* storage, void* to,
                    std::size_t element_bytes) {
  visit_width(element_bytes, [&]<class T>(T) {
    read_lanes(rectangle, static_cast<const T*>(storage), static_cast<T*>(to));
  });
}

void write_rectangle(const ElementRectangle& rectangle, const void* from, void* storage,
                     std::size_t element_bytes) {
  visit_width(element_bytes, [&]<class T>(T) {
    write_lanes(rectangle, static_cast<const T*>(from), static_cast<T*>(storage));
  });
}

}  // namespace opbench
