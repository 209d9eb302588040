#include "judge/magnitudes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "judge/measure_chunk.h"

namespace opbench {
namespace {

// Buckets use 11 bits of exponent and 3 of mantissa of fp64, without the sign.
constexpr int kShift = 49;
constexpr std::size_t kBuckets = std::size_t{1} << 14;

std::size_t bucket_of(double magnitude) {
  return static_cast<std::size_t>(std::bit_cast<std::uint64_t>(magnitude) >> kShift);
}

double start_of(std::size_t bucket) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(bucket) << kShift);
}

// fp32 has its own buckets, in several tables. Neighbouring values mostly have the same bucket;
// with several tables a count need not wait for the previous one.
constexpr int kFloatShift = 20;
constexpr std::size_t kFloatBuckets = std::size_t{1} << 11, kTables = 4;
using FloatCounts = std::array<std::uint32_t, kTables * kFloatBuckets>;

void count_floats(const float* values, std::int64_t count, FloatCounts& counts) {
  const auto add = [&](std::size_t table, float value) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
    ++counts[table * kFloatBuckets + (magnitude >> kFloatShift)];
  };
  std::int64_t i = 0;
  for (; i + std::int64_t{kTables} <= count; i += kTables) {
    for (std::size_t table = 0; table < kTables; ++table) {
      add(table, values[i + static_cast<std::int64_t>(table)]);
    }
  }
  for (; i < count; ++i) add(0, values[i]);
}

// The rank of the upper quartile among `count` values in ascending order.
std::int64_t quartile_rank(std::int64_t count) { return (3 * count + 3) / 4 - 1; }

// Activations are smaller. Masks such as -1e4 or -1e9 are added to exclude places from attention.
constexpr double kMask = 8192;

// The largest values are a mask if they are equal within an eighth, far beyond all others, and at
// least four. Far means a factor of 2^10.
constexpr std::size_t kFar = std::size_t{10} << 3;
constexpr std::int64_t kFewestMasked = 4;

bool is_large(std::size_t bucket) { return start_of(bucket + 1) > kMask; }

// The upper quartile of the values; 0 if no value is finite and other than 0.
double quartile_of(std::span<const double> values) {
  std::vector<double> magnitudes;
  magnitudes.reserve(values.size());
  for (const double value : values) {
    if (value != 0 && std::isfinite(value)) magnitudes.push_back(std::fabs(value));
  }
  if (magnitudes.empty()) return 0;
  const std::size_t top = bucket_of(*std::max_element(magnitudes.begin(), magnitudes.end()));
  const auto is_mask = [top](double value) { return bucket_of(value) == top; };
  const auto is_between = [&](double value) {
    return !is_mask(value) && bucket_of(value) + kFar > top;
  };
  const std::int64_t masked = std::count_if(magnitudes.begin(), magnitudes.end(), is_mask);
  if (is_large(top) && masked >= kFewestMasked && masked < std::ssize(magnitudes) &&
      std::none_of(magnitudes.begin(), magnitudes.end(), is_between)) {
    magnitudes.erase(std::remove_if(magnitudes.begin(), magnitudes.end(), is_mask),
                     magnitudes.end());
  }
  const auto at = magnitudes.begin() + quartile_rank(std::ssize(magnitudes));
  std::nth_element(magnitudes.begin(), at, magnitudes.end());
  return *at;
}

// The end of the buckets that count for the scale: before the bucket of a mask.
std::size_t end_of(const std::vector<std::int64_t>& counts) {
  const std::size_t end = bucket_of(HUGE_VAL);
  std::size_t top = end - 1;
  while (top > 0 && counts[top] == 0) --top;
  std::size_t next = top > 0 ? top - 1 : 0;
  while (next > 0 && counts[next] == 0) --next;
  const bool is_mask = is_large(top) && counts[top] >= kFewestMasked && next + kFar <= top;
  return next > 0 && is_mask ? next + 1 : end;
}

}  // namespace

void Magnitudes::add(const ValueKind& kind, const void* stored, std::int64_t count, bool is_all) {
  if (count > kMeasureBlock && kind.stored == StoredType::f32 && kind.dtype != DType::boolean) {
    return add_floats(static_cast<const float*>(stored), count);
  }
  thread_local std::vector<double> values(static_cast<std::size_t>(kMeasureBlock));
  const auto* bytes = static_cast<const std::byte*>(stored);
  for (std::int64_t begin = 0; begin < count; begin += kMeasureBlock) {
    const std::int64_t some = std::min(kMeasureBlock, count - begin);
    values_to_doubles(kind, bytes + static_cast<std::size_t>(begin) * size_of(kind.stored), some,
                      values.data());
    if (is_all && some == count) {
      only_ = quartile_of({values.data(), static_cast<std::size_t>(some)});
      return;
    }
    add(values.data(), some);
  }
}

void Magnitudes::add_floats(const float* values, std::int64_t count) {
  thread_local FloatCounts found;
  found.fill(0);
  count_floats(values, count, found);
  counts_.resize(kBuckets);
  for (std::size_t bucket = 0; bucket < kFloatBuckets; ++bucket) {
    const auto start = std::bit_cast<float>(static_cast<std::uint32_t>(bucket) << kFloatShift);
    std::int64_t& sum = counts_[bucket_of(start)];
    for (std::size_t table = 0; table < kTables; ++table) {
      sum += found[table * kFloatBuckets + bucket];
    }
  }
}

void Magnitudes::add(const double* values, std::int64_t count) {
  counts_.resize(kBuckets);
  std::for_each(values, values + count, [this](double value) {
    // Infinities and NaNs have their own buckets, which are excluded at the end; so has 0.
    ++counts_[bucket_of(std::fabs(value))];
  });
}

void Magnitudes::merge(const Magnitudes& more) {
  if (more.counts_.empty()) return;
  counts_.resize(kBuckets);
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += more.counts_[i];
}

double Magnitudes::scale() const {
  if (only_ >= 0) return only_;
  if (counts_.empty()) return 0;
  const std::size_t end = end_of(counts_);
  std::int64_t total = 0;
  for (std::size_t i = 1; i < end; ++i) total += counts_[i];
  if (total == 0) return 0;
  const std::int64_t rank = quartile_rank(total);
  std::int64_t below = 0;
  std::size_t bucket = 1;
  while (below + counts_[bucket] <= rank) below += counts_[bucket++];
  const double share =
      (static_cast<double>(rank - below) + 0.5) / static_cast<double>(counts_[bucket]);
  const double start = start_of(bucket);
  return start + share * (start_of(bucket + 1) - start);
}

// Stores only non-empty buckets, since most are empty.
void Magnitudes::pack(Packer& packer) const {
  packer.add(only_);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    packer.add(static_cast<std::uint32_t>(i));
    packer.add(counts_[i]);
  }
  packer.add(static_cast<std::uint32_t>(kBuckets));
}

void Magnitudes::unpack(Unpacker& packed) {
  only_ = packed.get<double>();
  counts_.assign(kBuckets, 0);
  for (auto i = packed.get<std::uint32_t>(); i < kBuckets; i = packed.get<std::uint32_t>()) {
    counts_[i] = packed.get<std::int64_t>();
  }
}

}  // namespace opbench
