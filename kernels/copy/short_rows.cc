#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/short_rows.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/copy/strided_ways.h"
#include "kernels/copy/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

[[maybe_unused]] constexpr std::int64_t kUnit = 16;  // bytes of a vector

// Copies the last rows, or all rows on targets without such vectors.
void copy_plainly(const ShortRows& rows, std::int64_t first, const std::uint8_t* from,
                  std::uint8_t* to) {
  for (std::int64_t i = first; i < rows.count; ++i) {
    std::uint8_t* const out = to + i * rows.to_step;
    std::memcpy(out, from + i * rows.from_step, static_cast<std::size_t>(rows.bytes));
    std::memset(out + rows.bytes, 0, static_cast<std::size_t>(rows.padded - rows.bytes));
  }
}

#if HWY_TARGET != HWY_SCALAR

using Unit = hn::FixedTag<std::uint8_t, kUnit>;

// The number of rows for which `bytes` end no later than the last row does.
std::int64_t rows_inside(const ShortRows& rows, std::int64_t step, std::int64_t bytes) {
  const std::int64_t beyond = bytes - rows.bytes;
  return std::max<std::int64_t>(0, rows.count - (beyond + step - 1) / step);
}

template <bool kStream, class V>
HWY_INLINE void put(V value, std::uint8_t* to) {
  const hn::DFromV<V> d;
  if constexpr (kStream)
    hn::Stream(value, d, to);
  else
    hn::StoreU(value, d, to);
}

// kUnits: units of 16 bytes that hold a row. Rows are written in vectors of kWide units, followed
// by zeros.
template <int kUnits, int kWide, bool kStream>
void pad(const ShortRows& rows, const std::uint8_t* from, std::uint8_t* to) {
  constexpr std::int64_t kBytes = kUnit * std::min(kUnits, kWide);  // of the vector at a row's end
  constexpr std::int64_t kLast = kUnits * kUnit - kBytes;
  const hn::FixedTag<std::uint8_t, kBytes> d;
  const hn::FixedTag<std::uint8_t, kWide * kUnit> wide;
  const std::int64_t count = rows_inside(rows, rows.from_step, kUnits * kUnit);
  const auto kept = hn::VecFromMask(d, hn::FirstN(d, static_cast<std::size_t>(rows.bytes - kLast)));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint8_t* const x = from + i * rows.from_step;
    std::uint8_t* const y = to + i * rows.to_step;
    for (std::int64_t at = 0; at < kLast; at += kBytes) put<kStream>(hn::LoadU(d, x + at), y + at);
    put<kStream>(widened<kWide * kUnit>(hn::And(hn::LoadU(d, x + kLast), kept)), y + kLast);
    for (std::int64_t at = kLast + kWide * kUnit; at < rows.padded; at += kWide * kUnit) {
      put<kStream>(hn::Zero(wide), y + at);
    }
  }
  copy_plainly(rows, count, from, to);
}

// Uses the widest vectors that divide a padded row, and its place if it is streamed.
template <int kUnits, bool kStream>
void pad(const ShortRows& rows, const std::uint8_t* from, std::uint8_t* to) {
  std::int64_t fits = rows.padded;
  if constexpr (kStream) fits |= rows.to_step | reinterpret_cast<std::intptr_t>(to);
  constexpr int kRead = kUnits == 3 ? 4 : kUnits;
  if constexpr (kMostBlocks >= 4) {
    if (fits % (4 * kUnit) == 0) return pad<kRead, 4, kStream>(rows, from, to);
  }
  if constexpr (kMostBlocks >= 2) {
    if (fits % (2 * kUnit) == 0) return pad<kRead, 2, kStream>(rows, from, to);
  }
  pad<kUnits, 1, kStream>(rows, from, to);
}

// Rows that are adjacent in the output: the next row overwrites what a vector writes beyond its
// row.
template <int kUnits>
void join(const ShortRows& rows, const std::uint8_t* from, std::uint8_t* to) {
  const Unit d;
  const std::int64_t count = std::min(rows_inside(rows, rows.from_step, kUnits * kUnit),
                                      rows_inside(rows, rows.to_step, kUnits * kUnit));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < kUnits; ++k) {
      hn::StoreU(hn::LoadU(d, from + i * rows.from_step + k * kUnit), d,
                 to + i * rows.to_step + k * kUnit);
    }
  }
  copy_plainly(rows, count, from, to);
}

// Rows with gaps: two words that may overlap, or vectors, the last of which may overlap.
template <class Word>
void copy_words(const ShortRows& rows, const std::uint8_t* from, std::uint8_t* to) {
  const auto last = rows.bytes - static_cast<std::int64_t>(sizeof(Word));
  for (std::int64_t i = 0; i < rows.count; ++i, from += rows.from_step, to += rows.to_step) {
    Word first, second;
    std::memcpy(&first, from, sizeof(Word));
    std::memcpy(&second, from + last, sizeof(Word));
    std::memcpy(to, &first, sizeof(Word));
    std::memcpy(to + last, &second, sizeof(Word));
  }
}

template <int kUnits>
void copy_apart(const ShortRows& rows, const std::uint8_t* from, std::uint8_t* to) {
  const Unit d;
  if constexpr (kUnits == 1) {
    if (rows.bytes >= 8) return copy_words<std::uint64_t>(rows, from, to);
    if (rows.bytes >= 4) return copy_words<std::uint32_t>(rows, from, to);
    return copy_plainly(rows, 0, from, to);
  }
  for (std::int64_t i = 0; i < rows.count; ++i, from += rows.from_step, to += rows.to_step) {
    for (std::int64_t k = 0; k + 1 < kUnits; ++k) {
      hn::StoreU(hn::LoadU(d, from + k * kUnit), d, to + k * kUnit);
    }
    const std::int64_t last = rows.bytes - kUnit;
    hn::StoreU(hn::LoadU(d, from + last), d, to + last);
  }
}

template <int kUnits>
void copy_units(const ShortRows& rows, const std::uint8_t* from, std::uint8_t* to, bool stream) {
  if (rows.padded % kUnit != 0) {
    if (rows.padded == rows.bytes) return copy_apart<kUnits>(rows, from, to);
    return copy_plainly(rows, 0, from, to);
  }
  if (stream) return pad<kUnits, true>(rows, from, to);
  pad<kUnits, false>(rows, from, to);
}

template <int kUnits>
void copy_of(const ShortRows& rows, const std::uint8_t* from, std::uint8_t* to, bool stream) {
  const bool is_joined = rows.padded == rows.bytes && rows.to_step == rows.bytes;
  if (is_joined && rows.bytes % kUnit != 0) return join<kUnits>(rows, from, to);
  copy_units<kUnits>(rows, from, to, stream);
}

#endif

}  // namespace

void copy_rows_on_target(const ShortRows& rows, const void* source, void* target, bool stream) {
  const auto* from = static_cast<const std::uint8_t*>(source);
  auto* to = static_cast<std::uint8_t*>(target);
#if HWY_TARGET == HWY_SCALAR
  (void)stream;
  copy_plainly(rows, 0, from, to);
#else
  if (rows.bytes <= kUnit) return copy_of<1>(rows, from, to, stream);
  if (rows.bytes <= 2 * kUnit) return copy_of<2>(rows, from, to, stream);
  if (rows.bytes <= 3 * kUnit) return copy_of<3>(rows, from, to, stream);
  if (rows.bytes <= 4 * kUnit) return copy_of<4>(rows, from, to, stream);
  copy_plainly(rows, 0, from, to);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(copy_rows_on_target);

void copy_short_rows(const ShortRows& rows, const void* from, void* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(copy_rows_on_target)(rows, from, to, stream);
  if (stream) hwy::FlushStream();
}

}  // namespace opbench
#endif  // HWY_ONCE
