#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/lane_windows.cc"
#include "kernels/lanes/lane_windows.h"

#include <hwy/foreach_target.h>

#include "kernels/lanes/cube.h"
#include "kernels/lanes/dtypes.h"
#include "kernels/lanes/typed_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// As many of the 16 lanes as a vector holds, and their places as they are computed.
using Lanes = hn::CappedTag<float, kCube>;
using Places = hn::RebindToSigned<Lanes>;

std::int64_t width() { return static_cast<std::int64_t>(hn::Lanes(Lanes())); }

template <bool kStream>
HWY_INLINE void store_places(hn::Vec<Places> found, std::int64_t* to) {
#if HWY_TARGET == HWY_SCALAR
  *to = hn::GetLane(found);
#else
  const Places d;
  const hn::Half<Places> half;
  const hn::Rebind<std::int64_t, hn::Half<Places>> wide;
  put<kStream>(hn::PromoteTo(wide, hn::LowerHalf(half, found)), wide, to);
  put<kStream>(hn::PromoteTo(wide, hn::UpperHalf(half, found)), wide, to + hn::Lanes(wide));
#endif
}

// A window on a plane, as what the walk over its elements needs.
struct Walk {
  std::int64_t start;        // place of its first element
  std::int64_t rows, count;  // elements of a column and of a row
  std::int64_t down, right;  // places between two
};

// Calls visit(value, place) for the elements of a window; those of an ordinary one (3x3, as most
// pools have it) without loops.
template <class T, class Visit>
HWY_INLINE void for_each_element(const Walk& walk, const T* x, const Visit& visit) {
  const Lanes d;
  const Places di;
  const auto row_of = [&](std::int64_t start, std::int64_t count, std::int64_t right) HWY_ATTR {
    const T* from = x + start * kCube;
    auto place = hn::Set(di, static_cast<std::int32_t>(start));
    const auto step = hn::Set(di, static_cast<std::int32_t>(right));
    for (std::int64_t w = 0; w < count; ++w, from += right * kCube) {
      visit(load_as(d, from), place);
      place = hn::Add(place, step);
    }
  };
  if (walk.rows == 3 && walk.count == 3 && walk.right == 1) {
    row_of(walk.start, 3, 1);
    row_of(walk.start + walk.down, 3, 1);
    return row_of(walk.start + 2 * walk.down, 3, 1);
  }
  for (std::int64_t h = 0; h < walk.rows; ++h) {
    row_of(walk.start + h * walk.down, walk.count, walk.right);
  }
}

// One vector of lanes: `x` begins at its first lane.
template <bool kStream, class T>
HWY_INLINE void max_of_window(const Walk& walk, const T* x, T* y, std::int64_t* places) {
  const Lanes d;
  const Places di;
  const auto first = load_as(d, x + walk.start * kCube);
  const auto start = hn::Set(di, static_cast<std::int32_t>(walk.start));
  auto greatest = first, sum = hn::Zero(d);
  auto found = start;
  const auto keep = [&](auto replaces, hn::Vec<Lanes> value, hn::Vec<Places> place) HWY_ATTR {
    greatest = hn::IfThenElse(replaces, value, greatest);
    found = hn::IfThenElse(hn::RebindMask(di, replaces), place, found);
  };
  for_each_element(walk, x, [&](hn::Vec<Lanes> value, hn::Vec<Places> place) HWY_ATTR {
    sum = hn::Add(sum, value);
    keep(hn::Gt(value, greatest), value, place);
  });
  // A NaN among them makes the sum one; so do both infinities.
  if (!hn::AllFalse(d, hn::IsNaN(sum))) {
    greatest = first, found = start;
    for_each_element(walk, x, [&](hn::Vec<Lanes> value, hn::Vec<Places> place) HWY_ATTR {
      keep(hn::Or(hn::Gt(value, greatest), hn::IsNaN(value)), value, place);
    });
  }
  store_as<kStream>(greatest, d, y);
  store_places<kStream>(found, places);
}

std::int64_t elements(const TapRange& taps, std::int64_t dilation) {
  return (taps.last - taps.first + dilation - 1) / dilation;
}

template <bool kStream, class T>
void max_of_plane_of(const Pool& pool, const T* x, T* y, std::int64_t* places) {
  const PoolAxis rows = pool.rows(), columns = pool.columns();
  const std::int64_t row = pool.w, oh_end = pool.oh, ow_end = pool.ow;
  for (std::int64_t oh = 0; oh < oh_end; ++oh) {
    const TapRange taps = rows.taps_at(oh);
    const std::int64_t height = elements(taps, rows.dilation);
    for (std::int64_t ow = 0; ow < ow_end; ++ow, y += kCube, places += kCube) {
      const TapRange across = columns.taps_at(ow);
      const std::int64_t count =
          columns.dilation == 1 ? across.last - across.first : elements(across, columns.dilation);
      const Walk walk{taps.first * row + across.first, height, count, rows.dilation * row,
                      columns.dilation};
      for (std::int64_t lane = 0; lane < kCube; lane += width()) {
        max_of_window<kStream>(walk, x + lane, y + lane, places + lane);
      }
    }
  }
  if (kStream) hwy::FlushStream();
}

}  // namespace

void max_windows_here(const Pool& pool, DType dtype, bool stream, const void* x, void* y,
                      std::int64_t* places) {
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    if (stream) return max_of_plane_of<true>(pool, from, to, places);
    max_of_plane_of<false>(pool, from, to, places);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(max_windows_here);

void max_of_lane_windows(const Pool& pool, DType dtype, bool stream, const void* x, void* y,
                         std::int64_t* places) {
  HWY_DYNAMIC_DISPATCH(max_windows_here)(pool, dtype, stream, x, y, places);
}

}  // namespace opbench
#endif  // HWY_ONCE
