#include "compare/sample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "judge/stored_values.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kRuns = 4, kRunLength = 8;

void append(const PairSide& side, ElementRange range, std::vector<double>& values) {
  constexpr std::size_t kLargestElement = 8;
  alignas(kLargestElement) std::byte stored[kRuns * kRunLength * kLargestElement];
  side.read(range, stored);
  const std::size_t first = values.size();
  values.resize(first + static_cast<std::size_t>(range.count));
  values_to_doubles({side.stored, side.dtype}, stored, range.count, values.data() + first);
}

}  // namespace

std::vector<double> sample_values(const PairSide& side, std::int64_t count) {
  std::vector<double> values;
  if (side.stored == StoredType::none || count <= 0) return values;
  try {
    if (count <= kRuns * kRunLength) {
      append(side, {0, count}, values);
      return values;
    }
    for (std::int64_t run = 0; run < kRuns; ++run) {
      // The quotient first: the product of large counts would overflow.
      const std::int64_t first = (count - kRunLength) / (kRuns - 1) * run;
      append(side, {first, kRunLength}, values);
    }
  } catch (const Error&) {
    values.clear();
  }
  return values;
}

double sample_distance(const std::vector<double>& a, const std::vector<double>& e) {
  double difference = 0, a_size = 0, e_size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_finite = std::isfinite(a[i]) && std::isfinite(e[i]);
    if (!is_finite) {
      const bool agrees = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
      if (!agrees) return 2;
      continue;
    }
    difference += (a[i] - e[i]) * (a[i] - e[i]);
    a_size += a[i] * a[i];
    e_size += e[i] * e[i];
  }
  return difference == 0 ? 0 : std::sqrt(difference / std::max(a_size, e_size));
}

}  // namespace opbench
