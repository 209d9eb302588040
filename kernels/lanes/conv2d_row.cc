#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/conv2d_row.cc"
#include "kernels/lanes/conv2d_row.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "kernels/lanes/cube.h"
#include "tensor/half-inl.h"
#include "tensor/half.h"
#include "tensor/half_bits.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// As many of the 16 lanes as a vector holds.
using D = hn::CappedTag<float, kCube>;
using V = hn::Vec<D>;

// Sums of so many places, two vectors each, stay in registers: of 32 there are, 28 and the two
// vectors of weights; of 16, 12.
constexpr std::size_t kMostPlaces = HWY_ARCH_X86 && HWY_MAX_BYTES < 64 ? 6 : 14;

HWY_INLINE void store(V value, float* to) { hn::StoreU(value, D(), to); }
HWY_INLINE void store(V value, half* to) {
  hn::StoreU(round_to_half_bits(D(), value), hn::Rebind<std::uint16_t, D>(),
             reinterpret_cast<std::uint16_t*>(to));
}

template <class T>
HWY_INLINE void store_sums(const ConvRow& row, std::int64_t place, std::int64_t lane, V sums) {
  const D d;
  const std::int64_t block = lane / kCube, first = lane % kCube;
  const auto used = static_cast<std::size_t>(std::max<std::int64_t>(0, row.used[block] - first));
  const V total = hn::Add(sums, hn::LoadU(d, row.bias + lane));
  store(hn::IfThenElseZero(hn::FirstN(d, used), total),
        static_cast<T*>(row.y[block]) + place * row.y_step + first);
}

template <class T, std::size_t kVectors, std::size_t... i, class... Sums>
HWY_INLINE void store_tile(const ConvRow& row, std::int64_t place, std::int64_t lane,
                           std::index_sequence<i...>, Sums... sums) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  (store_sums<T>(row, place + static_cast<std::int64_t>(i / kVectors),
                 lane + static_cast<std::int64_t>(i % kVectors) * lanes, sums),
   ...);
}

// Sum i is that of place i / kVectors, vector i % kVectors.
template <std::size_t kVectors, std::size_t... i, class... Sums>
HWY_INLINE void tile(const ConvRow& row, std::int64_t place, std::int64_t lane,
                     std::index_sequence<i...> order, Sums... sums) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kPlaces = static_cast<std::int64_t>(sizeof...(i) / kVectors);
  const ColumnTap *first = row.columns, *last = first + row.column_count;
  const auto is_met = [&](const ColumnTap& tap) {
    return tap.begin < place + kPlaces && tap.end > place;
  };
  while (first < last && !is_met(*first)) ++first;
  while (first < last && !is_met(last[-1])) --last;
  for (std::int64_t r = 0; r < row.row_count; ++r) {
    for (const ColumnTap* column = first; column < last; ++column) {
      const float* x = row.x + row.rows[r].x + column->x + place * kCube;
      const float* w = row.w + (row.rows[r].w + column->w) * row.channels * row.width + lane;
      for (std::int64_t left = row.channels; left > 0; left -= kCube, x += row.plane) {
        const std::int64_t count = std::min(left, kCube);
        for (std::int64_t c = 0; c < count; ++c, w += row.width) {
          const V w0 = hn::LoadU(d, w), w1 = kVectors > 1 ? hn::LoadU(d, w + lanes) : w0;
          ((sums = hn::MulAdd(hn::Set(d, x[i / kVectors * kCube + c]), i % kVectors == 0 ? w0 : w1,
                              sums)),
           ...);
        }
      }
    }
  }
  if (row.dtype == DType::fp32) {
    store_tile<float, kVectors>(row, place, lane, order, sums...);
  } else {
    store_tile<half, kVectors>(row, place, lane, order, sums...);
  }
}

template <std::size_t kVectors, std::size_t... i>
HWY_INLINE void start_tile(const ConvRow& row, std::int64_t place, std::int64_t lane,
                           std::index_sequence<i...> order) {
  tile<kVectors>(row, place, lane, order, (static_cast<void>(i), hn::Zero(D()))...);
}

template <std::size_t kVectors, std::size_t kPlaces>
void tile_of(const ConvRow& row, std::int64_t place, std::int64_t lane) {
  start_tile<kVectors>(row, place, lane, std::make_index_sequence<kPlaces * kVectors>());
}

using Tile = void (*)(const ConvRow& row, std::int64_t place, std::int64_t lane);

template <std::size_t kVectors, std::size_t... i>
Tile tile_for(std::size_t places, std::index_sequence<i...>) {
  static constexpr Tile kTiles[] = {tile_of<kVectors, i + 1>...};
  return kTiles[places - 1];
}

// Tiles as long as one another, but for one place.
template <std::size_t kVectors>
void tiles(const ConvRow& row, std::int64_t lane) {
  constexpr auto kMost = static_cast<std::int64_t>(kMostPlaces);
  const std::int64_t count = (row.places + kMost - 1) / kMost;
  for (std::int64_t i = 0, place = 0; i < count; ++i) {
    const std::int64_t end = row.places * (i + 1) / count;
    tile_for<kVectors>(static_cast<std::size_t>(end - place),
                       std::make_index_sequence<kMostPlaces>())(row, place, lane);
    place = end;
  }
}

}  // namespace

void convolve(const ConvRow& row) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  for (std::int64_t lane = 0; lane < row.width; lane += 2 * lanes) {
    if (row.width - lane > lanes) {
      tiles<2>(row, lane);
    } else {
      tiles<1>(row, lane);
    }
  }
}

void load_as_operands(DType dtype, const void* from, std::int64_t step, std::int64_t count,
                      float* to) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V most = hn::Set(d, kMaxHalf), least = hn::Set(d, -kMaxHalf);
  const auto* halves = static_cast<const std::uint16_t*>(from);
  const auto* floats = static_cast<const float*>(from);
  HWY_ALIGN std::uint16_t narrow[kCube];
  for (std::int64_t i = 0; i < count; ++i, to += kCube) {
    for (std::int64_t lane = 0; lane < kCube; lane += lanes) {
      if (dtype == DType::fp16) {
        hn::StoreU(load_half(d, halves + i * step + lane), d, to + lane);
        continue;
      }
      const V value = hn::LoadU(d, floats + i * step + lane);
      const V number = hn::IfThenElseZero(hn::Eq(value, value), value);
      const V clamped = hn::Max(least, hn::Min(most, number));
      hn::StoreU(round_to_half_bits(d, clamped), hn::Rebind<std::uint16_t, D>(), narrow + lane);
      hn::StoreU(load_half(d, narrow + lane), d, to + lane);
    }
  }
}

void move_rows(const float* from, std::int64_t rows, std::int64_t pitch, float* to) {
  const D d;
  for (std::int64_t r = 0; r < rows; ++r, from += kCube, to += pitch) {
    for (std::size_t lane = 0; lane < kCube; lane += hn::Lanes(d)) {
      hn::StoreU(hn::LoadU(d, from + lane), d, to + lane);
    }
  }
}

void exchange_axes(const float* from, std::int64_t rows, std::int64_t pitch, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < kCube; ++c) to[r * pitch + c] = from[c * kCube + r];
  }
#else
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto both = [&](auto a, auto b, auto take) HWY_ATTR {
    return hn::BitCast(d, take(hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
  };
  const auto lower = [&](auto a, auto b) HWY_ATTR { return hn::InterleaveLower(pairs, a, b); };
  const auto upper = [&](auto a, auto b) HWY_ATTR { return hn::InterleaveUpper(pairs, a, b); };
  for (std::int64_t r = 0; r < rows; r += 4) {
    for (std::int64_t c = 0; c < kCube; c += 4) {
      const float* x = from + c * kCube + r;
      const auto x0 = hn::LoadU(d, x), x1 = hn::LoadU(d, x + kCube),
                 x2 = hn::LoadU(d, x + 2 * kCube), x3 = hn::LoadU(d, x + 3 * kCube);
      const auto a0 = hn::InterleaveLower(d, x0, x1), a1 = hn::InterleaveUpper(d, x0, x1);
      const auto b0 = hn::InterleaveLower(d, x2, x3), b1 = hn::InterleaveUpper(d, x2, x3);
      float* y = to + r * pitch + c;
      hn::StoreU(both(a0, b0, lower), d, y);
      if (r + 1 < rows) hn::StoreU(both(a0, b0, upper), d, y + pitch);
      if (r + 2 < rows) hn::StoreU(both(a1, b1, lower), d, y + 2 * pitch);
      if (r + 3 < rows) hn::StoreU(both(a1, b1, upper), d, y + 3 * pitch);
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(convolve);
HWY_EXPORT(load_as_operands);
HWY_EXPORT(move_rows);
HWY_EXPORT(exchange_axes);

void convolve_row(const ConvRow& row) { HWY_DYNAMIC_DISPATCH(convolve)(row); }

void load_places(DType dtype, const void* from, std::int64_t step, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(load_as_operands)(dtype, from, step, count, to);
}

void copy_rows(const float* from, std::int64_t rows, std::int64_t pitch, float* to) {
  HWY_DYNAMIC_DISPATCH(move_rows)(from, rows, pitch, to);
}

void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to) {
  HWY_DYNAMIC_DISPATCH(exchange_axes)(from, rows, pitch, to);
}

}  // namespace opbench
#endif  // HWY_ONCE
