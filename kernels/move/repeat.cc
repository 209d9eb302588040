#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/repeat.cc"
#include "kernels/move/repeat.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <iterator>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kPeriod = 64;  // bytes that a unit divides and a vector, too
using Bytes = hn::CappedTag<std::uint8_t, kPeriod>;

// A unit over and over, twice a period, so that a vector can begin anywhere in the first.
struct Pattern {
  alignas(kPeriod) std::uint8_t bytes[2 * kPeriod];

  void fill(const std::uint8_t* unit, std::size_t size) {
    if (size == 2) return fill_with<std::uint16_t>(unit);
    if (size == 4) return fill_with<std::uint32_t>(unit);
    for (std::size_t i = 0; i < sizeof(bytes); i += size) std::memcpy(bytes + i, unit, size);
  }
  template <class T>
  void fill_with(const std::uint8_t* unit) {
    T value, values[sizeof(bytes) / sizeof(T)];
    std::memcpy(&value, unit, sizeof(T));
    std::fill(std::begin(values), std::end(values), value);
    std::memcpy(bytes, values, sizeof(bytes));
  }
  const std::uint8_t* at(std::size_t offset) const { return bytes + offset % kPeriod; }
};

// `size` bytes of the pattern from its start on: unaligned at both ends, aligned between.
template <bool kStream>
HWY_INLINE void write(const Pattern& pattern, std::size_t size, std::uint8_t* to) {
  const Bytes d;
  const std::size_t width = hn::Lanes(d);
  if (size < width) {
    std::memcpy(to, pattern.bytes, size);
    return;
  }
  hn::StoreU(hn::LoadU(d, pattern.bytes), d, to);
  std::size_t i = width - reinterpret_cast<std::uintptr_t>(to) % width;
  for (; i + width <= size; i += width) {
    const auto next = hn::LoadU(d, pattern.at(i));
    if constexpr (kStream) {
      hn::Stream(next, d, to + i);
    } else {
      hn::Store(next, d, to + i);
    }
  }
  if (i < size) hn::StoreU(hn::LoadU(d, pattern.at(size - width)), d, to + (size - width));
}

template <bool kStream>
void repeat_each(const RepeatedUnits& of, std::uint8_t* to) {
  const auto* unit = static_cast<const std::uint8_t*>(of.units);
  const std::size_t size = static_cast<std::size_t>(of.count) * of.bytes;
  Pattern pattern;
  for (std::int64_t i = 0; i < of.units_count; ++i, unit += of.bytes, to += size) {
    pattern.fill(unit, of.bytes);
    write<kStream>(pattern, size, to);
  }
  if (kStream) hwy::FlushStream();
}

// An element over `size` bytes in plain vectors, the last of which may overlap the one before.
template <class T>
HWY_INLINE void fill_with(T element, std::size_t size, std::uint8_t* to) {
  const Bytes d;
  const std::size_t width = hn::Lanes(d);
  if (size < width) {
    for (std::size_t at = 0; at < size; at += sizeof(T)) std::memcpy(to + at, &element, sizeof(T));
    return;
  }
  const auto value = hn::BitCast(d, hn::Set(hn::Repartition<T, Bytes>(), element));
  for (std::size_t at = 0; at + width < size; at += width) hn::StoreU(value, d, to + at);
  hn::StoreU(value, d, to + (size - width));
}

template <class T>
void repeat_elements(const RepeatedUnits& of, std::uint8_t* to) {
  const auto* elements = static_cast<const T*>(of.units);
  const std::size_t size = static_cast<std::size_t>(of.count) * sizeof(T);
  for (std::int64_t i = 0; i < of.units_count; ++i, to += size) fill_with(elements[i], size, to);
}

}  // namespace

void repeat_here(const RepeatedUnits& of, bool stream, void* to) {
  auto* bytes = static_cast<std::uint8_t*>(to);
  if (stream) return repeat_each<true>(of, bytes);
  // One byte is too little of a vector to hold an element.
  if constexpr (hn::MaxLanes(Bytes()) >= sizeof(std::uint32_t)) {
    if (of.bytes == 2) return repeat_elements<std::uint16_t>(of, bytes);
    if (of.bytes == 4) return repeat_elements<std::uint32_t>(of, bytes);
  }
  repeat_each<false>(of, bytes);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(repeat_here);

void repeat_units(const RepeatedUnits& of, bool stream, void* to) {
  HWY_DYNAMIC_DISPATCH(repeat_here)(of, stream, to);
}

}  // namespace opbench
#endif  // HWY_ONCE
