#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/block_grid.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/copy/strided_ways.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <int kUnit>
using Unit = hn::CappedTag<std::uint8_t, kUnit>;

template <bool kStream, int kUnit>
HWY_INLINE void move_unit(const std::uint8_t* from, std::uint8_t* to) {
  const Unit<kUnit> d;
  if constexpr (kStream)
    hn::Stream(hn::LoadU(d, from), d, to);
  else
    hn::StoreU(hn::LoadU(d, from), d, to);
}

// Copies `bytes` in vectors of up to kUnit bytes; kBytes instead of `bytes` unless it is 0.
template <bool kStream, int kUnit, std::int64_t kBytes>
HWY_INLINE void move_block(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes) {
  const std::int64_t size = kBytes == 0 ? bytes : kBytes;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Unit<kUnit>()));
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes) move_unit<kStream, kUnit>(from + i, to + i);
  if (i < size) std::memcpy(to + i, from + i, static_cast<std::size_t>(size - i));
}

// Blocks along p that are moved for every q: as many streams as the hardware prefetcher follows. Up
// to twice as many are not divided, so that what is contiguous along p is written at once.
constexpr std::int64_t kNeighbours = 8;

template <bool kStream, int kUnit, std::int64_t kBytes>
void move_grid(const BlockGrid& grid, const std::uint8_t* from, std::uint8_t* to) {
  // The hardware prefetcher follows blocks of several lines, and long rows of blocks if they come
  // from a cache. Distance of the prefetch: further along q; if q is short, the next blocks along
  // p.
  constexpr std::int64_t kShort = 4 << 10, kLine = 64, kAhead = 16;
  const bool is_short = grid.nq * grid.bytes <= kShort;
  const bool fetches = grid.bytes <= kLine && (kStream || is_short);
  const std::int64_t step = grid.np <= 2 * kNeighbours ? grid.np : kNeighbours;
  const auto ahead =
      static_cast<std::uintptr_t>(is_short ? step * grid.from_p : kAhead * grid.from_q);
  for (std::int64_t p0 = 0; p0 < grid.np; p0 += step) {
    const std::int64_t count = std::min(step, grid.np - p0);
    for (std::int64_t q = 0; q < grid.nq; ++q) {
      const std::uint8_t* source = from + p0 * grid.from_p + q * grid.from_q;
      std::uint8_t* target = to + p0 * grid.to_p + q * grid.to_q;
      for (std::int64_t p = 0; p < count; ++p) {
        if (fetches) {
          hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(
              reinterpret_cast<std::uintptr_t>(source) + ahead));
        }
        move_block<kStream, kUnit, kBytes>(source, target, grid.bytes);
        source += grid.from_p;
        target += grid.to_p;
      }
    }
  }
}

// Blocks of one unit, like those of the formats, have their own loop.
template <bool kStream, int kUnit>
void move_units(const BlockGrid& grid, const std::uint8_t* from, std::uint8_t* to) {
  if (grid.bytes == kUnit) return move_grid<kStream, kUnit, kUnit>(grid, from, to);
  move_grid<kStream, kUnit, 0>(grid, from, to);
}

}  // namespace

void move_blocks_on_target(const BlockGrid& grid, const void* from, void* to, bool stream) {
  const auto* source = static_cast<const std::uint8_t*>(from);
  auto* target = static_cast<std::uint8_t*>(to);
  if (!stream) {
    if (grid.bytes % 64 == 0) return move_units<false, 64>(grid, source, target);
    if (grid.bytes % 32 == 0) return move_units<false, 32>(grid, source, target);
    return move_units<false, 16>(grid, source, target);
  }
  // Streamed vectors start at multiples of their size.
  const std::int64_t places =
      grid.bytes | grid.to_p | grid.to_q | reinterpret_cast<std::intptr_t>(to);
  if (places % 64 == 0)
    move_units<true, 64>(grid, source, target);
  else if (places % 32 == 0)
    move_units<true, 32>(grid, source, target);
  else
    move_units<true, 16>(grid, source, target);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(move_blocks_on_target);

void move_blocks(const BlockGrid& grid, const void* from, void* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(move_blocks_on_target)(grid, from, to, stream);
}

}  // namespace opbench
#endif  // HWY_ONCE
