#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/lane_windows.cc"
#include <hwy/foreach_target.h>

#include "kernels/simd/cube.h"
#include "kernels/simd/plane_windows.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Vectors with at most the 16 lanes of a place, and the vectors of their places in the plane.
using Lanes = hn::CappedTag<float, kCube>;
using Places = hn::RebindToSigned<Lanes>;

std::int64_t width() { return static_cast<std::int64_t>(hn::Lanes(Lanes())); }

template <bool kStream>
HWY_INLINE void store_places(hn::Vec<Places> found, std::int64_t* to) {
#if HWY_TARGET == HWY_SCALAR
  *to = hn::GetLane(found);
#else
  const hn::Half<Places> half;
  const hn::Rebind<std::int64_t, hn::Half<Places>> wide;
  put<kStream>(hn::PromoteTo(wide, hn::LowerHalf(half, found)), wide, to);
  put<kStream>(hn::PromoteTo(wide, hn::UpperHalf(half, found)), wide, to + hn::Lanes(wide));
#endif
}

// A window on a plane in the form of the loop over its elements.
struct Walk {
  std::int64_t start;        // place of its first element
  std::int64_t rows, count;  // elements of a column and of a row
  std::int64_t down, right;  // distance of neighbouring places
};

// The places of an ordinary window's elements (3x3, as in most pools), relative to the first.
struct NinePlaces {
  hn::Vec<Places> of[3][3];

  explicit NinePlaces(std::int64_t down) {
    for (std::int64_t h = 0; h < 3; ++h) {
      for (std::int64_t w = 0; w < 3; ++w) {
        of[h][w] = hn::Set(Places(), static_cast<std::int32_t>(h * down + w));
      }
    }
  }
};

bool is_ordinary(const Walk& walk) { return walk.rows == 3 && walk.count == 3 && walk.right == 1; }

// Calls visit(value, place relative to the first) for the elements of a window from its first, `x`,
// on.
template <class T, class Visit>
HWY_INLINE void for_nine_elements(const Walk& walk, const NinePlaces& nine, const T* x,
                                  const Visit& visit) {
  const Lanes d;
  const std::int64_t down = walk.down * kCube;
  visit(load_as(d, x), nine.of[0][0]);
  visit(load_as(d, x + kCube), nine.of[0][1]);
  visit(load_as(d, x + 2 * kCube), nine.of[0][2]);
  visit(load_as(d, x + down), nine.of[1][0]);
  visit(load_as(d, x + down + kCube), nine.of[1][1]);
  visit(load_as(d, x + down + 2 * kCube), nine.of[1][2]);
  visit(load_as(d, x + 2 * down), nine.of[2][0]);
  visit(load_as(d, x + 2 * down + kCube), nine.of[2][1]);
  visit(load_as(d, x + 2 * down + 2 * kCube), nine.of[2][2]);
}

template <class T, class Visit>
HWY_INLINE void for_each_element(const Walk& walk, const T* x, const Visit& visit) {
  const Lanes d;
  const Places di;
  const auto step = hn::Set(di, static_cast<std::int32_t>(walk.right));
  for (std::int64_t h = 0; h < walk.rows; ++h, x += walk.down * kCube) {
    const T* from = x;
    auto place = hn::Set(di, static_cast<std::int32_t>(h * walk.down));
    for (std::int64_t w = 0; w < walk.count; ++w, from += walk.right * kCube) {
      visit(load_as(d, from), place);
      place = hn::Add(place, step);
    }
  }
}

// Selects value if it is greater, else greatest; so it is greatest if one of them is NaN or both
// are equal. x86's max does exactly this and does not wait for the comparison.
HWY_INLINE hn::Vec<Lanes> greater_of([[maybe_unused]] hn::Mask<Lanes> is_greater,
                                     hn::Vec<Lanes> value, hn::Vec<Lanes> greatest) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(value, greatest);
#else
  return hn::IfThenElse(is_greater, value, greatest);
#endif
}

// One vector of lanes: `x` begins at the first element of the window. `for_all` visits its
// elements.
template <bool kStream, class T, class ForAll>
HWY_INLINE void max_of_window(const Walk& walk, const T* x, T* y, std::int64_t* places,
                              const ForAll& for_all) {
  const Lanes d;
  const Places di;
  const auto first = load_as(d, x);
  auto greatest = first, sum = hn::Zero(d);
  auto found = hn::Zero(di);
  for_all(x, [&](hn::Vec<Lanes> value, hn::Vec<Places> place) HWY_ATTR {
    const auto is_greater = hn::Gt(value, greatest);
    sum = hn::Add(sum, value);
    greatest = greater_of(is_greater, value, greatest);
    found = hn::IfThenElse(hn::RebindMask(di, is_greater), place, found);
  });
  // A NaN among the elements makes the sum NaN; so do infinities of both signs.
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(sum)))) {
    greatest = first, found = hn::Zero(di);
    for_each_element(walk, x, [&](hn::Vec<Lanes> value, hn::Vec<Places> place) HWY_ATTR {
      const auto replaces = hn::Or(hn::Gt(value, greatest), hn::IsNaN(value));
      greatest = hn::IfThenElse(replaces, value, greatest);
      found = hn::IfThenElse(hn::RebindMask(di, replaces), place, found);
    });
  }
  store_as<kStream>(greatest, d, y);
  const auto start = hn::Set(di, static_cast<std::int32_t>(walk.start));
  store_places<kStream>(hn::Add(found, start), places);
}

std::int64_t elements(const TapRange& taps, std::int64_t dilation) {
  return dilation == 1 ? taps.last - taps.first
                       : (taps.last - taps.first + dilation - 1) / dilation;
}

// Prefetches the first inputs of the next row of windows, `rows` rows of `count` elements: few
// lines at a time. After the last row the next plane begins.
template <class T>
HWY_INLINE void prefetch_rows(const T* x, std::int64_t rows, std::int64_t row, std::int64_t count) {
  for (std::int64_t h = 0; h < rows; ++h, x += row * kCube) {
    for (std::int64_t byte = 0; byte < count * std::int64_t{kCube * sizeof(T)}; byte += 64) {
      hwy::Prefetch(reinterpret_cast<const char*>(x) + byte);
    }
  }
}

template <bool kStream, class T>
void max_of_plane_of(const Pool& pool, std::span<const TapRange> across, const T* x, T* y,
                     std::int64_t* places) {
  const PoolAxis rows = pool.rows(), columns = pool.columns();
  const NinePlaces nine(rows.dilation * pool.w);
  for (std::int64_t oh = 0; oh < pool.oh; ++oh) {
    const TapRange down = rows.taps_at(oh);
    Walk walk{0, elements(down, rows.dilation), 0, rows.dilation * pool.w, columns.dilation};
    for (const TapRange& taps : across) {
      walk.start = down.first * pool.w + taps.first;
      walk.count = elements(taps, columns.dilation);
      const T* first = x + walk.start * kCube;
      if constexpr (kStream) {
        prefetch_rows(x + (down.last * pool.w + taps.first) * kCube, rows.stride, pool.w,
                      columns.stride);
      }
      for (std::int64_t lane = 0; lane < kCube; lane += width()) {
        if (is_ordinary(walk)) {
          max_of_window<kStream>(walk, first + lane, y + lane, places + lane,
                                 [&](const T* from, const auto& visit)
                                     HWY_ATTR { for_nine_elements(walk, nine, from, visit); });
        } else {
          max_of_window<kStream>(walk, first + lane, y + lane, places + lane,
                                 [&](const T* from, const auto& visit)
                                     HWY_ATTR { for_each_element(walk, from, visit); });
        }
      }
      y += kCube, places += kCube;
    }
  }
  if (kStream) hwy::FlushStream();
}

}  // namespace

void max_windows_here(const Pool& pool, std::span<const TapRange> across, DType dtype, bool stream,
                      const void* x, void* y, std::int64_t* places) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    if (stream) return max_of_plane_of<true>(pool, across, from, to, places);
    max_of_plane_of<false>(pool, across, from, to, places);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(max_windows_here);

void max_of_lane_windows(const Pool& pool, std::span<const TapRange> across, DType dtype,
                         bool stream, const void* x, void* y, std::int64_t* places) {
  HWY_DYNAMIC_DISPATCH(max_windows_here)(pool, across, dtype, stream, x, y, places);
}

}  // namespace opbench
#endif  // HWY_ONCE
