#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/repeat.cc"
#include "kernels/copy/repeat.h"

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

constexpr std::size_t kPeriod = 64;  // bytes that every unit and every vector divide
using Bytes = hn::CappedTag<std::uint8_t, kPeriod>;

// A repeated unit, twice a period long, so that a vector can begin anywhere in the first period.
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

// Streams whole lines past the cache, assembled in the L1 cache; the bytes before the first and
// after the last line are stored plainly.
class LineStream {
 public:
  explicit LineStream(std::uint8_t* to) : out_(to) {}

  void add(const Pattern& pattern, std::size_t size) {
    const Bytes d;
    for (std::size_t done = 0; done < size;) {
      const std::size_t count = std::min(size - done, kStage - used_);
      for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
        hn::StoreU(hn::LoadU(d, pattern.at(done + i)), d, stage_ + used_ + i);
      }
      used_ += count;
      done += count;
      if (used_ == kStage) flush();
    }
  }

  void finish() {
    flush();
    std::memcpy(out_, stage_, used_);
    hwy::FlushStream();
  }

 private:
  void flush() {
    const Bytes d;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(out_) % kPeriod;
    std::size_t i = std::min(past == 0 ? 0 : kPeriod - past, used_);
    std::memcpy(out_, stage_, i);
    for (; i + kPeriod <= used_; i += kPeriod) {
      for (std::size_t k = i; k < i + kPeriod; k += hn::Lanes(d)) {
        hn::Stream(hn::LoadU(d, stage_ + k), d, out_ + k);
      }
    }
    out_ += i;
    used_ -= i;
    std::memmove(stage_, stage_ + i, used_);
  }

  static constexpr std::size_t kStage = 4096;  // bytes
  std::uint8_t* out_;
  std::size_t used_ = 0;
  alignas(kPeriod) std::uint8_t stage_[kStage + kPeriod];  // a vector may exceed the used bytes
};

// Writes `size` bytes of the pattern in plain vectors; the last may overlap the one before.
HWY_INLINE void write_pattern(const Pattern& pattern, std::size_t size, std::uint8_t* to) {
  const Bytes d;
  const std::size_t width = hn::Lanes(d);
  if (size < width) {
    std::memcpy(to, pattern.bytes, size);
    return;
  }
  for (std::size_t i = 0; i + width < size; i += width) {
    hn::StoreU(hn::LoadU(d, pattern.at(i)), d, to + i);
  }
  hn::StoreU(hn::LoadU(d, pattern.at(size - width)), d, to + (size - width));
}

void repeat_units_of(const RepeatedUnits& of, bool stream, std::uint8_t* to) {
  const auto* unit = static_cast<const std::uint8_t*>(of.units);
  const std::size_t size = static_cast<std::size_t>(of.count) * of.bytes;
  Pattern pattern;
  LineStream lines(to);
  for (std::int64_t i = 0; i < of.units_count; ++i, unit += of.bytes, to += size) {
    pattern.fill(unit, of.bytes);
    if (stream) {
      lines.add(pattern, size);
    } else {
      write_pattern(pattern, size, to);
    }
  }
  if (stream) lines.finish();
}

// Repeats an element over `size` bytes in plain vectors; the last may overlap the one before.
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
  // A vector of one byte cannot hold an element.
  if constexpr (hn::MaxLanes(Bytes()) >= sizeof(std::uint32_t)) {
    if (!stream && of.bytes == 2) return repeat_elements<std::uint16_t>(of, bytes);
    if (!stream && of.bytes == 4) return repeat_elements<std::uint32_t>(of, bytes);
  }
  repeat_units_of(of, stream, bytes);
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
