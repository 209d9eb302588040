#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/conv2d_plane.cc"
#include "kernels/simd/conv2d_plane.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/simd/cube.h"
#include "tensor/half-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// A vector with at most the 16 lanes of a place.
using D = hn::CappedTag<float, kCube>;
using V = hn::Vec<D>;

// The number of places with sums (two vectors each) in registers: of 32 registers, 28 are sums and
// two are weights; of 16, 12 are sums.
constexpr std::size_t kMostPlaces = HWY_ARCH_X86 && HWY_MAX_BYTES < 64 ? 6 : 14;

// A row of places: those of the second axis's phase, with the taps that meet it.
struct Row {
  const ConvImage& image;
  std::span<const ConvTap> rows, columns;
  const float* x;        // of the row
  std::int64_t y, step;  // position of its first place, and elements from one place to the next
};

// The taps that meet any of these places; they are adjacent.
std::span<const ConvTap> met(std::span<const ConvTap> taps, std::int64_t place,
                             std::int64_t count) {
  while (!taps.empty() && !taps.front().meets(place, count)) taps = taps.subspan(1);
  while (!taps.empty() && !taps.back().meets(place, count)) taps = taps.first(taps.size() - 1);
  return taps;
}

HWY_INLINE void store(V value, float* to) { hn::StoreU(value, D(), to); }
HWY_INLINE void store(V value, half* to) {
  hn::StoreU(round_to_half_bits(D(), value), hn::Rebind<std::uint16_t, D>(),
             reinterpret_cast<std::uint16_t*>(to));
}

// The values to store in addition to the sums, for 16 or fewer lanes.
template <class T>
HWY_INLINE T* row_of(const Row& row, std::int64_t place, std::int64_t lane) {
  return static_cast<T*>(row.image.y[lane / kCube]) + row.y + place * row.step + lane % kCube;
}
HWY_INLINE auto used_of(const Row& row, std::int64_t lane) {
  const std::int64_t used = row.image.used[lane / kCube] - lane % kCube;
  return hn::FirstN(D(), static_cast<std::size_t>(std::max<std::int64_t>(0, used)));
}

template <class T, std::size_t kVectors, std::size_t... i, class... Sums>
HWY_INLINE void store_tile(const Row& row, std::int64_t place, std::int64_t lane,
                           std::index_sequence<i...>, Sums... sums) {
  const D d;
  const std::int64_t step = row.step;
  const std::int64_t next = kVectors > 1 ? lane + static_cast<std::int64_t>(hn::Lanes(d)) : lane;
  T *to0 = row_of<T>(row, place, lane), *to1 = row_of<T>(row, place, next);
  const V bias0 = hn::LoadU(d, row.image.bias + lane), bias1 = hn::LoadU(d, row.image.bias + next);
  const auto used0 = used_of(row, lane), used1 = used_of(row, next);
  (store(hn::IfThenElseZero(i % kVectors == 0 ? used0 : used1,
                            hn::Add(sums, i % kVectors == 0 ? bias0 : bias1)),
         (i % kVectors == 0 ? to0 : to1) + static_cast<std::int64_t>(i / kVectors) * step),
   ...);
}

// Sum i belongs to place i / kVectors, vector i % kVectors.
template <std::int64_t kLanes>
struct Dense {
  template <std::size_t kVectors, std::size_t... i, class... Sums>
  static HWY_INLINE void add(const Row& row, const ConvTap& down, const ConvTap& along,
                             std::int64_t place, std::int64_t lane, std::index_sequence<i...>,
                             Sums&... sums) {
    const D d;
    const ConvImage& image = row.image;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const float* x = row.x + down.x + along.x + place * kLanes;
    const float* w = image.w + (down.w + along.w) * image.channels * image.width + lane;
    for (std::int64_t left = image.channels; left > 0; left -= kCube, x += image.plane) {
      const std::int64_t count = std::min(left, kCube);
      for (std::int64_t c = 0; c < count; ++c, w += image.width) {
        const V w0 = hn::LoadU(d, w), w1 = kVectors > 1 ? hn::LoadU(d, w + lanes) : w0;
        ((sums = hn::MulAdd(hn::Set(d, x[i / kVectors * kLanes + c]), i % kVectors == 0 ? w0 : w1,
                            sums)),
         ...);
      }
    }
  }
};

struct Depthwise {
  template <std::size_t kVectors, std::size_t... i, class... Sums>
  static HWY_INLINE void add(const Row& row, const ConvTap& down, const ConvTap& along,
                             std::int64_t place, std::int64_t lane, std::index_sequence<i...>,
                             Sums&... sums) {
    static_assert(kVectors == 1);
    const D d;
    const float* x = row.x + down.x + along.x + place * kCube + lane;
    const V w = hn::LoadU(d, row.image.w + (down.w + along.w) * kCube + lane);
    ((sums = hn::MulAdd(hn::LoadU(d, x + i * kCube), w, sums)), ...);
  }
};

template <class Products, std::size_t kVectors, std::size_t... i, class... Sums>
HWY_INLINE void tile(const Row& row, std::int64_t place, std::int64_t lane,
                     std::index_sequence<i...> order, Sums... sums) {
  constexpr auto kPlaces = static_cast<std::int64_t>(sizeof...(i) / kVectors);
  const std::span<const ConvTap> columns = met(row.columns, place, kPlaces);
  for (const ConvTap& down : row.rows) {
    for (const ConvTap& along : columns) {
      Products::template add<kVectors>(row, down, along, place, lane, order, sums...);
    }
  }
  if (row.image.dtype == DType::fp32) {
    store_tile<float, kVectors>(row, place, lane, order, sums...);
  } else {
    store_tile<half, kVectors>(row, place, lane, order, sums...);
  }
}

template <class Products, std::size_t kVectors, std::size_t... i>
HWY_INLINE void start_tile(const Row& row, std::int64_t place, std::int64_t lane,
                           std::index_sequence<i...> order) {
  tile<Products, kVectors>(row, place, lane, order, (static_cast<void>(i), hn::Zero(D()))...);
}

template <class Products, std::size_t kVectors, std::size_t kPlaces>
void tile_of(const Row& row, std::int64_t place, std::int64_t lane) {
  start_tile<Products, kVectors>(row, place, lane, std::make_index_sequence<kPlaces * kVectors>());
}

using Tile = void (*)(const Row& row, std::int64_t place, std::int64_t lane);

template <class Products, std::size_t kVectors, std::size_t... i>
Tile tile_for(std::size_t places, std::index_sequence<i...>) {
  static constexpr Tile kTiles[] = {tile_of<Products, kVectors, i + 1>...};
  return kTiles[places - 1];
}

// At most as many places as one tap meets: in longer tiles most products would be with zeros. Fewer
// than eight sums in flight would wait for each other.
template <std::size_t kVectors>
std::int64_t tile_places(const Row& row) {
  std::int64_t longest = 8 / kVectors;
  for (const ConvTap& tap : row.columns) longest = std::max(longest, tap.end - tap.begin);
  return std::min(longest, static_cast<std::int64_t>(kMostPlaces));
}

// Tiles of equal length, with a difference of at most one place.
template <class Products, std::size_t kVectors>
void tiles(const Row& row, std::int64_t places, std::int64_t lane) {
  const std::int64_t most = tile_places<kVectors>(row);
  const std::int64_t count = (places + most - 1) / most;
  for (std::int64_t i = 0, place = 0; i < count; ++i) {
    const std::int64_t end = places * (i + 1) / count;
    tile_for<Products, kVectors>(static_cast<std::size_t>(end - place),
                                 std::make_index_sequence<kMostPlaces>())(row, place, lane);
    place = end;
  }
}

// Calls body(row, places) for every row of places.
template <class Body>
void for_each_row(const ConvImage& image, Body body) {
  for (std::int64_t q = image.begin; q < image.end; ++q) {
    for (const ConvPhase& down : image.rows) {
      if (q >= down.count) continue;
      const std::int64_t line = (down.first + q * image.row_step) * image.y_width;
      for (const ConvPhase& along : image.columns) {
        body(Row{image, met(down.taps, q, 1), along.taps,
                 image.x + (q - image.begin) * image.row_elements, (line + along.first) * kCube,
                 image.column_step * kCube},
             along.count);
      }
    }
  }
}

}  // namespace

template <std::int64_t kLanes>
void dense_of(const ConvImage& image) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  for_each_row(image, [&](const Row& row, std::int64_t places) {
    for (std::int64_t lane = 0; lane < image.width; lane += 2 * lanes) {
      if (image.width - lane > lanes) {
        tiles<Dense<kLanes>, 2>(row, places, lane);
      } else {
        tiles<Dense<kLanes>, 1>(row, places, lane);
      }
    }
  });
}

void dense(const ConvImage& image) {
  if (image.lanes == 4) return dense_of<4>(image);
  dense_of<kCube>(image);
}

void depthwise(const ConvImage& image) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  for_each_row(image, [&](const Row& row, std::int64_t places) {
    for (std::int64_t lane = 0; lane < kCube; lane += lanes) {
      tiles<Depthwise, 1>(row, places, lane);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(dense);
HWY_EXPORT(depthwise);

void convolve(const ConvImage& image) { HWY_DYNAMIC_DISPATCH(dense)(image); }

void convolve_depthwise(const ConvImage& image) { HWY_DYNAMIC_DISPATCH(depthwise)(image); }

}  // namespace opbench
#endif  // HWY_ONCE
