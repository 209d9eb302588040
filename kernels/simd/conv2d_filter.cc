#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/conv2d_filter.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <utility>

#include "kernels/simd/conv2d_plane.h"
#include "kernels/simd/cube.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// A vector with at most the 16 lanes of a place.
using D = hn::CappedTag<float, kCube>;
using V = hn::Vec<D>;

// The number of terms with sums in flight.
constexpr std::size_t kMostTerms = 12;

template <std::size_t... i, class... Sums>
HWY_INLINE void add_terms(const DepthwisePlaces& places, const DepthwiseTerm* terms,
                          std::index_sequence<i...>, Sums... sums) {
  const D d;
  const float* const x[] = {terms[i].x...};
  const float* dy = places.dy;
  ((sums = hn::LoadU(d, terms[i].sums)), ...);
  for (std::int64_t row = 0; row < places.rows; ++row) {
    const std::int64_t begin = row * places.x_row, end = begin + places.count * kCube;
    for (std::int64_t place = begin; place < end; place += kCube, dy += kCube) {
      const V gradient = hn::LoadU(d, dy);
      ((sums = hn::MulAdd(hn::LoadU(d, x[i] + place), gradient, sums)), ...);
    }
  }
  (hn::StoreU(sums, d, terms[i].sums), ...);
}

template <std::size_t... i>
HWY_INLINE void start_terms(const DepthwisePlaces& places, const DepthwiseTerm* terms,
                            std::index_sequence<i...> order) {
  add_terms(places, terms, order, (static_cast<void>(i), hn::Zero(D()))...);
}

template <std::size_t kTerms>
void terms_of(const DepthwisePlaces& places, const DepthwiseTerm* terms) {
  start_terms(places, terms, std::make_index_sequence<kTerms>());
}

using Terms = void (*)(const DepthwisePlaces& places, const DepthwiseTerm* terms);

template <std::size_t... i>
Terms terms_for(std::size_t terms, std::index_sequence<i...>) {
  static constexpr Terms kTerms[] = {terms_of<i + 1>...};
  return kTerms[terms - 1];
}

// The number of terms with sums (two vectors each) in registers, together with the vectors of dy;
// the addresses of the terms stay in general registers.
constexpr std::size_t kMostFilterTerms = HWY_ARCH_X86 && HWY_MAX_BYTES < 64 ? 6 : 9;

// Sum i belongs to term i / kVectors, vector i % kVectors.
template <std::size_t kVectors, std::size_t... i, class... Sums>
HWY_INLINE void add_tile(const FilterTile& tile, std::int64_t lane, const std::int64_t* offsets,
                         float* to, std::index_sequence<i...>, Sums... sums) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* const x[] = {tile.x + offsets[i / kVectors]...};
  const std::int64_t next = lane + lanes;
  const float* dy0 = tile.dy + lane / kCube * tile.dy_block + lane % kCube;
  const std::int64_t dy1 =
      next / kCube * tile.dy_block + next % kCube - (lane / kCube * tile.dy_block + lane % kCube);
  const auto at = [&](std::size_t sum) {
    return to + static_cast<std::int64_t>(sum / kVectors) * tile.width + lane +
           static_cast<std::int64_t>(sum % kVectors) * lanes;
  };
  ((sums = hn::LoadU(d, at(i))), ...);
  for (std::int64_t n = 0; n < tile.images; ++n) {
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      const float* dy = dy0 + n * tile.dy_image + row * tile.dy_row;
      const std::int64_t begin = n * tile.x_image + row * tile.x_row;
      const std::int64_t end = begin + tile.places * tile.x_place;
      for (std::int64_t p = begin; p < end; p += tile.x_place, dy += kCube) {
        const V g0 = hn::LoadU(d, dy), g1 = kVectors > 1 ? hn::LoadU(d, dy + dy1) : g0;
        ((sums = hn::MulAdd(hn::Set(d, x[i][p]), i % kVectors == 0 ? g0 : g1, sums)), ...);
      }
    }
  }
  (hn::StoreU(sums, d, at(i)), ...);
}

template <std::size_t kVectors, std::size_t... i>
HWY_INLINE void start_tile(const FilterTile& tile, std::int64_t lane, const std::int64_t* offsets,
                           float* to, std::index_sequence<i...> order) {
  add_tile<kVectors>(tile, lane, offsets, to, order, (static_cast<void>(i), hn::Zero(D()))...);
}

template <std::size_t kVectors, std::size_t kTerms>
void tile_of(const FilterTile& tile, std::int64_t lane, const std::int64_t* offsets, float* to) {
  start_tile<kVectors>(tile, lane, offsets, to, std::make_index_sequence<kTerms * kVectors>());
}

using Tile = void (*)(const FilterTile& tile, std::int64_t lane, const std::int64_t* offsets,
                      float* to);

template <std::size_t kVectors, std::size_t... i>
Tile tile_for(std::size_t terms, std::index_sequence<i...>) {
  static constexpr Tile kTiles[] = {tile_of<kVectors, i + 1>...};
  return kTiles[terms - 1];
}

// Divides terms into groups of equal length, with a difference of at most one.
template <std::size_t kVectors>
void tiles(const FilterTile& tile, std::int64_t lane, std::span<const std::int64_t> offsets,
           float* sums) {
  const std::size_t groups = (offsets.size() + kMostFilterTerms - 1) / kMostFilterTerms;
  for (std::size_t group = 0, begin = 0; group < groups; ++group) {
    const std::size_t end = offsets.size() * (group + 1) / groups;
    tile_for<kVectors>(end - begin, std::make_index_sequence<kMostFilterTerms>())(
        tile, lane, offsets.data() + begin, sums + static_cast<std::int64_t>(begin) * tile.width);
    begin = end;
  }
}

}  // namespace

void add_all_terms(const DepthwisePlaces& places, std::span<const DepthwiseTerm> terms) {
  const std::size_t lanes = hn::Lanes(D()), groups = (terms.size() + kMostTerms - 1) / kMostTerms;
  for (std::size_t lane = 0; lane < kCube; lane += lanes) {
    DepthwisePlaces of_lanes = places;
    of_lanes.dy += lane;
    for (std::size_t group = 0, begin = 0; group < groups; ++group) {
      const std::size_t end = terms.size() * (group + 1) / groups;
      DepthwiseTerm of_lane[kMostTerms];
      for (std::size_t i = begin; i < end; ++i) {
        of_lane[i - begin] = {terms[i].x + lane, terms[i].sums + lane};
      }
      terms_for(end - begin, std::make_index_sequence<kMostTerms>())(of_lanes, of_lane);
      begin = end;
    }
  }
}

void add_all_filter_terms(const FilterTile& tile, std::span<const std::int64_t> offsets,
                          float* sums) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  for (std::int64_t lane = 0; lane < tile.width; lane += 2 * lanes) {
    if (tile.width - lane > lanes) {
      tiles<2>(tile, lane, offsets, sums);
    } else {
      tiles<1>(tile, lane, offsets, sums);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(add_all_terms);
HWY_EXPORT(add_all_filter_terms);

void add_depthwise_terms(const DepthwisePlaces& places, std::span<const DepthwiseTerm> terms) {
  HWY_DYNAMIC_DISPATCH(add_all_terms)(places, terms);
}

void add_filter_terms(const FilterTile& tile, std::span<const std::int64_t> offsets, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_all_filter_terms)(tile, offsets, sums);
}

}  // namespace opbench
#endif  // HWY_ONCE
