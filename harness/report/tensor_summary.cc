#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "dump/stored_visit.h"
#include "harness/report/shown_tensor.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// These sizes determine the result: sums of blocks are added in their order.
constexpr std::int64_t kBlock = 4096, kChunk = std::int64_t{1} << 20;

/// A type that represents every value of a stored type with the meaning T.
template <class T>
using Exact = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t,
                                 std::conditional_t<std::is_integral_v<T>, std::int64_t, double>>;

/// Counts and moments of some elements, in their order.
template <class V>
struct Moments {
  std::int64_t finite = 0, zeros = 0, nan = 0, positive_inf = 0, negative_inf = 0;
  V min = std::numeric_limits<V>::max(), max = std::numeric_limits<V>::lowest();
  long double mean = 0, spread = 0;  // sum of (value - mean)^2

  void merge(const Moments& later) {
    zeros += later.zeros;
    nan += later.nan;
    positive_inf += later.positive_inf;
    negative_inf += later.negative_inf;
    min = std::min(min, later.min);
    max = std::max(max, later.max);
    if (later.finite == 0) return;
    const auto all = static_cast<long double>(finite + later.finite);
    const long double off = later.mean - mean, share = static_cast<long double>(later.finite) / all;
    spread += later.spread + off * off * share * static_cast<long double>(finite);
    mean += off * share;
    finite += later.finite;
  }
};

// fp64 and 64-bit integers can exceed the range or the precision of a double.
template <class V, class T>
using Sum = std::conditional_t<sizeof(T) == 8, long double, double>;

template <class V>
bool count_not_finite(V value, Moments<V>& moments) {
  if constexpr (std::is_floating_point_v<V>) {
    if (std::fabs(value) <= std::numeric_limits<V>::max()) return false;
    if (std::isnan(value)) {
      ++moments.nan;
    } else {
      ++(value > 0 ? moments.positive_inf : moments.negative_inf);
    }
    return true;
  }
  return false;
}

template <class V, class T, class Convert>
Moments<V> moments_of_block(const T* elements, std::int64_t count, Convert convert) {
  Moments<V> moments;
  Sum<V, T> sum = 0, spread = 0;
  const auto each = [&](auto visit) {
    for (std::int64_t i = 0; i < count; ++i) visit(static_cast<V>(convert(elements[i])));
  };
  each([&](V value) {
    if (count_not_finite(value, moments)) return;
    ++moments.finite;
    moments.zeros += value == 0;
    moments.min = std::min(moments.min, value);
    moments.max = std::max(moments.max, value);
    sum += static_cast<Sum<V, T>>(value);
  });
  if (moments.finite == 0) return moments;
  const Sum<V, T> mean = sum / static_cast<Sum<V, T>>(moments.finite);
  Moments<V> ignored;
  each([&](V value) {
    if (count_not_finite(value, ignored)) return;
    const Sum<V, T> off = static_cast<Sum<V, T>>(value) - mean;
    spread += off * off;
  });
  moments.mean = mean;
  moments.spread = spread;
  return moments;
}

using Bins = std::array<std::int64_t, TensorSummary::kBins>;

// Uses halves, because the difference of two doubles can overflow.
struct BinScale {
  double half_min = 0, per_half = 0;

  BinScale(double min, double max) : half_min(min / 2) {
    const double range = max / 2 - half_min;
    per_half = range > 0 ? static_cast<double>(TensorSummary::kBins) / range : 0;
  }
  std::size_t bin(double value) const {
    const double place = (value / 2 - half_min) * per_half;  // NaN where per_half is Inf
    constexpr std::size_t kLast = TensorSummary::kBins - 1;
    return place < static_cast<double>(kLast) ? static_cast<std::size_t>(std::max(place, 0.0))
                                              : kLast;
  }
};

/// Reads an entry chunk by chunk, in parallel if that is faster.
class ChunkReader {
 public:
  ChunkReader(DumpSource& file, const DumpEntry& entry) : file_(file), entry_(entry) {}

  std::int64_t chunks() const { return (entry_.desc.elements() + kChunk - 1) / kChunk; }

  /// Calls `use(chunk, elements, count)` for every chunk.
  template <class Use>
  void each(Use use) {
    const auto one = [&](std::int64_t chunk) {
      const std::int64_t first = chunk * kChunk;
      const std::int64_t count = std::min(kChunk, entry_.desc.elements() - first);
      if (chunks() == 1) {  // kept for the second pass
        if (kept_.empty()) kept_ = read({first, count});
        return use(chunk, kept_.data(), count);
      }
      const std::vector<std::byte> elements = read({first, count});
      use(chunk, elements.data(), count);
    };
    const bool is_contiguous = entry_.offset >= 0 && !entry_.is_strided;
    if (is_contiguous) return parallel_blocks(chunks(), one);
    for (std::int64_t chunk = 0; chunk < chunks(); ++chunk) one(chunk);
  }

 private:
  std::vector<std::byte> read(ElementRange range) const {
    std::vector<std::byte> elements(static_cast<std::size_t>(range.count) * size_of(entry_.stored));
    file_.read(entry_, range, elements.data());
    return elements;
  }

  DumpSource& file_;
  const DumpEntry& entry_;
  std::vector<std::byte> kept_;
};

template <class T, class Convert>
std::vector<std::int64_t> histogram_of(ChunkReader& reader, const BinScale& scale,
                                       Convert convert) {
  std::vector<Bins> parts(static_cast<std::size_t>(reader.chunks()));
  reader.each([&](std::int64_t chunk, const std::byte* bytes, std::int64_t count) {
    const auto* elements = reinterpret_cast<const T*>(bytes);
    Bins found{};
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(convert(elements[i]));
      if (std::fabs(value) <= std::numeric_limits<double>::max()) ++found[scale.bin(value)];
    }
    parts[static_cast<std::size_t>(chunk)] = found;
  });
  std::vector<std::int64_t> histogram(TensorSummary::kBins);
  for (const Bins& part : parts) {
    for (std::size_t i = 0; i < part.size(); ++i) histogram[i] += part[i];
  }
  return histogram;
}

template <class T, class Convert>
TensorSummary summarise_as(ChunkReader& reader, Convert convert) {
  using V = Exact<decltype(convert(T()))>;
  std::vector<Moments<V>> parts(static_cast<std::size_t>(reader.chunks()));
  reader.each([&](std::int64_t chunk, const std::byte* bytes, std::int64_t count) {
    const auto* elements = reinterpret_cast<const T*>(bytes);
    Moments<V> part;  // not in place: neighbours share cache lines
    for (std::int64_t at = 0; at < count; at += kBlock) {
      part.merge(moments_of_block<V>(elements + at, std::min(kBlock, count - at), convert));
    }
    parts[static_cast<std::size_t>(chunk)] = part;
  });
  Moments<V> all;
  for (const Moments<V>& part : parts) all.merge(part);
  TensorSummary summary;
  summary.finite = all.finite;
  summary.zeros = all.zeros;
  summary.nan = all.nan;
  summary.positive_inf = all.positive_inf;
  summary.negative_inf = all.negative_inf;
  if (all.finite == 0) return summary;
  summary.min = all.min;
  summary.max = all.max;
  summary.mean = static_cast<double>(all.mean);
  summary.deviation =
      static_cast<double>(std::sqrt(all.spread / static_cast<long double>(all.finite)));
  summary.histogram = histogram_of<T>(
      reader, {static_cast<double>(all.min), static_cast<double>(all.max)}, convert);
  return summary;
}

Number number_of(bool is_bool, auto value) {
  using V = Exact<decltype(value)>;
  if (is_bool) return value != decltype(value)(0);
  return static_cast<V>(value);
}

bool is_bool(const DumpEntry& entry) {
  return entry.desc.dtype == DType::boolean || entry.stored == StoredType::boolean;
}

}  // namespace

std::vector<Number> read_numbers(DumpSource& file, const DumpEntry& entry, ElementRange range) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(range.count) * size_of(entry.stored));
  file.read(entry, range, bytes.data());
  std::vector<Number> numbers;
  numbers.reserve(static_cast<std::size_t>(range.count));
  visit_values({entry.stored, entry.desc.dtype}, [&]<class T>(T, auto convert) {
    const auto* elements = reinterpret_cast<const T*>(bytes.data());
    for (std::int64_t i = 0; i < range.count; ++i) {
      numbers.push_back(number_of(is_bool(entry), convert(elements[i])));
    }
  });
  return numbers;
}

TensorSummary summarise(DumpSource& file, const DumpEntry& entry) {
  ChunkReader reader(file, entry);
  TensorSummary summary;
  visit_values({entry.stored, entry.desc.dtype},
               [&]<class T>(T, auto convert) { summary = summarise_as<T>(reader, convert); });
  summary.count = entry.desc.elements();
  return summary;
}

}  // namespace opbench
