#include "harness/run/value_range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/elements.h"

namespace opbench {
namespace {

constexpr double kLargestHalf = 65504;  // largest finite fp16 number

// Place of a nonzero value. fp64's subnormals count as the smallest normal numbers.
std::size_t place_of(double value) {
  constexpr int kShift = 52, kMask = 0x7FF, kFp64Bias = 1023;
  const auto exponent =
      static_cast<int>((std::bit_cast<std::uint64_t>(value) >> kShift) & kMask) - kFp64Bias;
  return static_cast<std::size_t>(exponent + ValueRange::kBias);
}

}  // namespace

void ValueRange::add(const double* values, std::int64_t count) {
  elements += count;
  const bool is_half = dtype == DType::fp16;
  for (std::int64_t i = 0; i < count; ++i) {
    const double magnitude = std::fabs(values[i]);
    if (!(magnitude <= std::numeric_limits<double>::max())) {
      ++(std::isnan(magnitude) ? nan : inf);
      continue;
    }
    max_abs = std::max(max_abs, magnitude);
    if (magnitude == 0)
      ++zero;
    else
      ++exponents[place_of(magnitude)];
    largest += is_half && magnitude == kLargestHalf;
  }
}

void ValueRange::merge(const ValueRange& other) {
  elements += other.elements;
  nan += other.nan;
  inf += other.inf;
  zero += other.zero;
  largest += other.largest;
  max_abs = std::max(max_abs, other.max_abs);
  std::transform(exponents.begin(), exponents.end(), other.exponents.begin(), exponents.begin(),
                 std::plus());
}

std::int64_t ValueRange::below(int exponent) const {
  const auto end = std::clamp<std::ptrdiff_t>(exponent + kBias, 0, std::ssize(exponents));
  return std::accumulate(exponents.begin(), exponents.begin() + end, std::int64_t{0});
}

std::optional<double> ValueRange::headroom_bits() const {
  const double most = largest_finite(dtype);
  if (most == 0 || elements == 0) return std::nullopt;
  if (nan + inf > 0) return 0;
  if (max_abs == 0) return std::nullopt;
  return std::floor(100 * std::log2(most / max_abs)) / 100;
}

int smallest_normal_exponent(DType dtype) {
  return std::ilogb(smallest_normal(is_floating(dtype) ? dtype : DType::fp32));
}

NewValues new_values(const ValueRange& inputs, const ValueRange& outputs) {
  return {inputs.nan > 0 ? 0 : outputs.nan, inputs.inf > 0 ? 0 : outputs.inf,
          inputs.largest > 0 ? 0 : outputs.largest};
}

std::string to_string(const NewValues& found, std::int64_t elements) {
  std::vector<std::string> parts;
  if (found.nan > 0) parts.push_back(fmt::format("{} NaN", found.nan));
  if (found.inf > 0) parts.push_back(fmt::format("{} Inf", found.inf));
  if (found.largest > 0) parts.push_back(fmt::format("{} of +-65504", found.largest));
  if (parts.empty()) return {};
  return fmt::format("{} among {} elements", fmt::join(parts, ", "), elements);
}

ValueRange storage_range(const TensorDesc& desc, const void* storage, DType counted_as) {
  ValueRange range;
  range.dtype = counted_as;
  if (!is_floating(desc.dtype)) return range;
  std::vector<double> values;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange part = block(desc, i);
    values.resize(static_cast<std::size_t>(part.count));
    read_doubles(desc, storage, part, values);
    range.add(values.data(), part.count);
  }
  return range;
}

}  // namespace opbench
