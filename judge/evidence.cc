#include "judge/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "judge/failure_pattern.h"
#include "judge/value_evidence.h"

namespace opbench {
namespace {

constexpr double kLargestHalf = 65504;
constexpr std::size_t kBins = std::size_t{1} << 16;

constexpr std::array kNames = std::to_array<std::string_view>(
    {"elements",       "relative_error",  "cosine",         "scale_factor",
     "scale_left",     "offset",          "offset_left",    "absolute_spread",
     "max_relative",   "relative_spread", "small_to_large", "kept_bits",
     "towards_zero",   "away_from_zero",  "below",          "above",
     "actual_bits",    "expected_bits",   "wrong",          "wrong_zeros",
     "beyond_half",    "saturated",       "overflowed",     "made_nonfinite",
     "made_nan",       "nonfinite_from",  "finite_up_to",   "axis",
     "place_from",     "place_to",        "places",         "extent",
     "period",         "residues",        "is_tail",        "from_multiple",
     "reordered_axis", "same_values",     "wrong_from",     "wrong_to"});

double number(std::size_t count) { return static_cast<double>(count); }

void add_places(const WrongPlaces& places, DepartureEvidence& evidence) {
  constexpr std::size_t kLargestBlock = 64;
  evidence.places = to_string(places);
  if (places.axis) evidence["axis"] = number(*places.axis);
  evidence["place_from"] = number(places.from);
  evidence["place_to"] = number(places.to - 1);
  evidence["places"] = number(places.to - places.from);
  evidence["extent"] = number(places.extent);
  evidence["is_tail"] = places.is_tail();
  if (places.period > 0) {
    evidence["period"] = number(places.period);
    evidence["residues"] = number(places.residues.size());
  }
  std::size_t multiple = 1;
  while (multiple < kLargestBlock && places.from % (2 * multiple) == 0) multiple *= 2;
  evidence["from_multiple"] = number(multiple);
}

void add_wrong_evidence(const DepartedValues& values, const std::vector<bool>& wrong,
                        DepartureEvidence& evidence) {
  std::size_t count = 0, zeros = 0;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    count += wrong[i];
    zeros += wrong[i] && values.actual[i] == 0;
  }
  evidence["wrong"] = number(count);
  if (count > 0) evidence["wrong_zeros"] = number(zeros) / number(count);
}

void add_range_evidence(const DepartedValues& values, DepartureEvidence& evidence) {
  std::size_t beyond = 0, saturated = 0, overflowed = 0, nonfinite = 0, nan = 0;
  for (std::size_t i = 0; i < values.actual.size(); ++i) {
    const double a = values.actual[i], e = values.expected[i];
    if (std::fabs(e) > kLargestHalf) {
      ++beyond;
      saturated += std::fabs(a) == kLargestHalf;
      overflowed += std::isinf(a) && std::isfinite(e);
    }
    nonfinite += std::isfinite(e) && !std::isfinite(a);
    nan += std::isfinite(e) && std::isnan(a);
  }
  evidence["beyond_half"] = number(beyond);
  if (beyond > 0) {
    evidence["saturated"] = number(saturated) / number(beyond);
    evidence["overflowed"] = number(overflowed) / number(beyond);
  }
  evidence["made_nonfinite"] = number(nonfinite);
  evidence["made_nan"] = number(nan);
}

// Adds the value of an input from which on the output is NaN or Inf, if one input separates them.
void add_threshold(const DepartedValues& values, DepartureEvidence& evidence) {
  for (const InputValues& input : values.inputs) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (std::size_t i = 0; i < values.actual.size(); ++i) {
      const double x = input.values[i];
      if (!std::isfinite(values.expected[i]) || std::isnan(x)) continue;
      if (std::isfinite(values.actual[i])) {
        most = std::max(most, x);
      } else {
        least = std::min(least, x);
      }
    }
    if (!(most < least) || !std::isfinite(least) || !std::isfinite(most)) continue;
    evidence["nonfinite_from"] = least;
    evidence["finite_up_to"] = most;
    return;
  }
}

// Adds the range of an input that gives wrong elements, if one input separates them.
void add_wrong_range(const DepartedValues& values, const std::vector<bool>& wrong,
                     DepartureEvidence& evidence) {
  constexpr std::size_t kFewest = 8;
  for (const InputValues& input : values.inputs) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    std::size_t wrong_count = 0;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      if (!wrong[i] || std::isnan(input.values[i])) continue;
      least = std::min(least, input.values[i]);
      most = std::max(most, input.values[i]);
      ++wrong_count;
    }
    if (wrong_count < kFewest || wrong_count + kFewest > wrong.size() || !(least < most)) continue;
    bool is_told = true;
    for (std::size_t i = 0; i < wrong.size() && is_told; ++i) {
      is_told = wrong[i] || !(input.values[i] >= least && input.values[i] <= most);
    }
    if (!is_told) continue;
    evidence["wrong_from"] = least;
    evidence["wrong_to"] = most;
    return;
  }
}

bool is_near(double a, double b) {
  return std::fabs(a - b) <= 0.01 * (std::fabs(a) + std::fabs(b));
}

// The mean distance from their mean.
double distance_from_mean(std::span<const double> values) {
  const double count = number(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double sum = 0;
  for (const double value : values) sum += std::fabs(value - mean);
  return sum / count;
}

// Orders do not change sums over all values. A value at another place differs by about as much as
// values differ from each other. So small errors, such as rounding, need no further check.
bool may_be_reordered(const DepartedValues& values) {
  constexpr double kSmallError = 0.01;
  double actual = 0, expected = 0, error = 0, differing = 0;
  double least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {-HUGE_VAL, -HUGE_VAL};
  for (std::size_t i = 0; i < values.actual.size(); ++i) {
    const double a = values.actual[i], e = values.expected[i];
    if (!std::isfinite(a) || !std::isfinite(e)) return false;
    actual += a * a;
    expected += e * e;
    error += std::fabs(a - e);
    differing += a != e;
    least[0] = std::min(least[0], a);
    least[1] = std::min(least[1], e);
    most[0] = std::max(most[0], a);
    most[1] = std::max(most[1], e);
  }
  return is_near(actual, expected) && is_near(least[0], least[1]) && is_near(most[0], most[1]) &&
         error > kSmallError * distance_from_mean(values.expected) * differing;
}

// The sum of differences of sorted values, from counts in `kBins` equal ranges: the area between
// both distributions.
double sorted_difference(const DepartedValues& values, double least, double width) {
  std::vector<std::int64_t> surplus(kBins);
  const auto bin = [&](double value) {
    return std::min(static_cast<std::size_t>((value - least) / width), kBins - 1);
  };
  for (std::size_t i = 0; i < values.actual.size(); ++i) {
    ++surplus[bin(values.actual[i])];
    --surplus[bin(values.expected[i])];
  }
  double sum = 0;
  std::int64_t before = 0;
  for (const std::int64_t here : surplus) {
    before += here;
    sum += std::fabs(double(before)) * width;
  }
  return sum;
}

// The sum of differences by sorting, if values are too uneven for ranges.
double exact_difference(const DepartedValues& values) {
  std::vector<double> actual(values.actual.begin(), values.actual.end());
  std::vector<double> expected(values.expected.begin(), values.expected.end());
  std::sort(actual.begin(), actual.end());
  std::sort(expected.begin(), expected.end());
  double sum = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) sum += std::fabs(actual[i] - expected[i]);
  return sum;
}

// True if sorting leaves at most a thousandth of the difference. Two samples of one distribution
// differ by some hundredths.
bool are_same_values(const DepartedValues& values) {
  constexpr double kLeft = 0.001;
  const std::size_t count = values.actual.size();
  double before = 0, least = HUGE_VAL, most = -HUGE_VAL;
  for (std::size_t i = 0; i < count; ++i) {
    before += std::fabs(values.actual[i] - values.expected[i]);
    for (const double value : {values.actual[i], values.expected[i]}) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  if (before == 0) return false;
  const double width = (most - least) / double(kBins);
  const bool is_fine = count > kBins && width <= kLeft / 4 * before / double(count);
  const double after = is_fine ? sorted_difference(values, least, width) : exact_difference(values);
  return after <= kLeft * before;
}

void add_order_evidence(const DepartedValues& values, DepartureEvidence& evidence) {
  if (!may_be_reordered(values)) return;
  if (const auto axis = reordered_axis(values.actual, values.expected, values.shape)) {
    evidence["reordered_axis"] = number(*axis);
  }
  evidence["same_values"] = evidence.numbers.contains("reordered_axis") || are_same_values(values);
}

}  // namespace

std::vector<bool> wrong_elements(const DepartedValues& values) {
  if (values.wrong != nullptr) return *values.wrong;
  std::vector<bool> wrong(values.actual.size());
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const double a = values.actual[i], e = values.expected[i];
    if (!std::isfinite(a) || !std::isfinite(e)) {
      wrong[i] = std::isnan(a) ? !std::isnan(e) : a != e;
    } else {
      wrong[i] = std::fabs(a - e) > values.allowed + values.allowed_share * std::fabs(e);
    }
  }
  return wrong;
}

DepartureEvidence find_evidence(const DepartedValues& values) {
  DepartureEvidence evidence;
  const std::vector<bool> wrong = wrong_elements(values);
  const std::optional<WrongPlaces> places = wrong_places(wrong, values.shape);
  if (places) add_places(*places, evidence);
  add_wrong_evidence(values, wrong, evidence);
  add_value_evidence(values, places ? &wrong : nullptr, evidence);
  add_range_evidence(values, evidence);
  if (evidence["made_nonfinite"] > 0) add_threshold(values, evidence);
  add_wrong_range(values, wrong, evidence);
  add_order_evidence(values, evidence);
  return evidence;
}

std::span<const std::string_view> evidence_names() { return kNames; }

}  // namespace opbench
