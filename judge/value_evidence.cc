#include "judge/value_evidence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tensor/random.h"

namespace opbench {
namespace {

constexpr int kDoubleBits = 53;

// The number of bits from the first to the last that is set, in a significand.
int significand_bits(double value) {
  if (value == 0) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(value) & ((std::uint64_t{1} << 52) - 1);
  return bits == 0 ? 1 : kDoubleBits - std::countr_zero(bits);
}

// The exponent of a finite number that is not 0; -1023 for subnormal numbers.
double exponent(double value) {
  constexpr int kBias = 1023, kMantissaBits = 52, kExponents = 0x7ff;
  const auto stored = std::bit_cast<std::uint64_t>(value) >> kMantissaBits;
  return static_cast<int>(stored & kExponents) - kBias;
}

/// Sums over pairs of finite values.
struct Sums {
  double count = 0, differing = 0;
  double product = 0, actual_sq = 0, expected_sq = 0, error = 0, error_sq = 0, largest = 0;
  double towards_zero = 0, away = 0, below = 0, above = 0;
  double log_expected = 0, nonzero = 0;
  int actual_bits = 0, expected_bits = 0;

  void add(double a, double e) {
    const double error_here = a - e;
    ++count;
    product += a * e;
    actual_sq += a * a;
    expected_sq += e * e;
    error += error_here;
    error_sq += error_here * error_here;
    largest = std::max(largest, std::fabs(error_here));
    actual_bits = std::max(actual_bits, significand_bits(a));
    expected_bits = std::max(expected_bits, significand_bits(e));
    if (e != 0) {
      ++nonzero;
      log_expected += exponent(e);
    }
    if (error_here == 0) return;
    ++differing;
    towards_zero += std::fabs(a) < std::fabs(e);
    away += std::fabs(a) > std::fabs(e);
    below += error_here < 0;
    above += error_here > 0;
  }
};

/// Sums of |a-e|/|e|, with values below the typical exponent separate from the others.
struct RelativeErrors {
  double largest = 0, squares[2] = {0, 0}, counts[2] = {0, 0};

  void add(double a, double e, double typical_exponent) {
    // fp16 loses bits below this. A cancelling sum does not show the errors of its terms.
    constexpr double kSmallest = 0x1p-14;
    if (std::fabs(e) < kSmallest) return;
    const double relative = std::fabs(a - e) / std::fabs(e);
    const bool is_large = exponent(e) > typical_exponent;
    largest = std::max(largest, relative);
    squares[is_large] += relative * relative;
    ++counts[is_large];
  }
};

template <class Visit>
void for_each_finite(const DepartedValues& values, const std::vector<bool>* only, Visit&& visit) {
  for (std::size_t i = 0; i < values.actual.size(); ++i) {
    const double a = values.actual[i], e = values.expected[i];
    if ((only == nullptr || (*only)[i]) && std::isfinite(a) && std::isfinite(e)) visit(a, e);
  }
}

void add_fits(const Sums& sums, DepartureEvidence& evidence) {
  if (sums.expected_sq == 0 || sums.error_sq == 0) return;
  evidence["relative_error"] = std::sqrt(sums.error_sq / sums.expected_sq);
  const double factor = sums.product / sums.expected_sq;
  evidence["scale_factor"] = factor;
  const double left = sums.actual_sq - factor * sums.product;
  evidence["scale_left"] = std::sqrt(std::max(left, 0.0) / sums.error_sq);
  if (sums.actual_sq > 0) {
    evidence["cosine"] = sums.product / std::sqrt(sums.actual_sq) / std::sqrt(sums.expected_sq);
  }
  evidence["absolute_spread"] = sums.largest / std::sqrt(sums.error_sq / sums.count);
  const double mean = sums.error / sums.count;
  evidence["offset"] = mean;
  const double varying = sums.error_sq - sums.count * mean * mean;
  evidence["offset_left"] = std::sqrt(std::max(varying, 0.0) / sums.error_sq);
}

void add_signs(const Sums& sums, DepartureEvidence& evidence) {
  if (sums.differing == 0) return;
  evidence["towards_zero"] = sums.towards_zero / sums.differing;
  evidence["away_from_zero"] = sums.away / sums.differing;
  evidence["below"] = sums.below / sums.differing;
  evidence["above"] = sums.above / sums.differing;
}

void add_relative(const RelativeErrors& errors, DepartureEvidence& evidence) {
  const double count = errors.counts[0] + errors.counts[1];
  if (count == 0 || errors.largest == 0) return;
  evidence["max_relative"] = errors.largest;
  const double mean_square = (errors.squares[0] + errors.squares[1]) / count;
  evidence["relative_spread"] = errors.largest / std::sqrt(mean_square);
  // Rounding to p bits has an error of at most 2^-p of the value.
  evidence["kept_bits"] = std::round(-std::log2(errors.largest));
  if (errors.counts[0] == 0 || errors.counts[1] == 0 || errors.squares[1] == 0) return;
  evidence["small_to_large"] =
      std::sqrt(errors.squares[0] / errors.counts[0] / (errors.squares[1] / errors.counts[1]));
}

/// A tensor as `outer` times `extent` slices of `inner` elements.
struct Axis {
  std::size_t outer, extent, inner;

  std::size_t at(std::size_t o, std::size_t slice, std::size_t i) const {
    return (o * extent + slice) * inner + i;
  }
};

Axis axis_of(const Dims& shape, std::size_t axis) {
  const auto product = [](auto begin, auto end) {
    return static_cast<std::size_t>(
        std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>()));
  };
  const auto here = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  return {product(shape.begin(), here), static_cast<std::size_t>(*here),
          product(here + 1, shape.end())};
}

// A random number for each place in a slice.
std::vector<double> weights_of(const Axis& axis) {
  std::vector<double> weights(axis.outer * axis.inner);
  for (std::size_t i = 0; i < weights.size(); i += 4) {
    const std::uint64_t block = i / 4;
    const auto drawn = philox4x32(
        {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}, {0, 0});
    for (std::size_t k = i; k < std::min(i + 4, weights.size()); ++k) weights[k] = drawn[k % 4];
  }
  return weights;
}

// A number for each slice that differs for other values, and for other places of the same values.
std::vector<double> signatures(std::span<const double> values, const Axis& axis,
                               std::span<const double> weights) {
  std::vector<double> sums(axis.extent);
  for (std::size_t o = 0; o < axis.outer; ++o) {
    const double* const weight = weights.data() + o * axis.inner;
    for (std::size_t s = 0; s < axis.extent; ++s) {
      const double* const slice = values.data() + axis.at(o, s, 0);
      for (std::size_t i = 0; i < axis.inner; ++i) sums[s] += weight[i] * slice[i];
    }
  }
  return sums;
}

std::vector<std::size_t> order_of(const std::vector<double>& signatures) {
  std::vector<std::size_t> order(signatures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return signatures[a] < signatures[b]; });
  return order;
}

// Sum of |actual - expected|, with slice actual_order[n] compared with expected_order[n].
double error_in(std::span<const double> actual, std::span<const double> expected, const Axis& axis,
                const std::vector<std::size_t>& actual_order,
                const std::vector<std::size_t>& expected_order) {
  double sum = 0;
  for (std::size_t o = 0; o < axis.outer; ++o) {
    for (std::size_t n = 0; n < axis.extent; ++n) {
      for (std::size_t i = 0; i < axis.inner; ++i) {
        sum += std::fabs(actual[axis.at(o, actual_order[n], i)] -
                         expected[axis.at(o, expected_order[n], i)]);
      }
    }
  }
  return sum;
}

}  // namespace

void add_value_evidence(const DepartedValues& values, const std::vector<bool>* only,
                        DepartureEvidence& evidence) {
  Sums sums;
  for_each_finite(values, only, [&](double a, double e) { sums.add(a, e); });
  if (sums.count == 0) return;
  evidence["elements"] = sums.count;
  evidence["actual_bits"] = sums.actual_bits;
  evidence["expected_bits"] = sums.expected_bits;
  add_fits(sums, evidence);
  add_signs(sums, evidence);
  if (sums.nonzero == 0) return;
  RelativeErrors errors;
  const double typical = sums.log_expected / sums.nonzero;
  for_each_finite(values, only, [&](double a, double e) { errors.add(a, e, typical); });
  add_relative(errors, evidence);
}

std::optional<std::size_t> reordered_axis(std::span<const double> actual,
                                          std::span<const double> expected, const Dims& shape) {
  constexpr double kLeft = 0.05;
  constexpr std::size_t kMostSlices = std::size_t{1} << 16;  // more take long to sort
  double as_they_are = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) as_they_are += std::fabs(actual[i] - expected[i]);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const Axis axis = axis_of(shape, k);
    if (axis.extent < 2 || axis.extent > kMostSlices) continue;
    const std::vector<double> weights = weights_of(axis);
    const std::vector<std::size_t> mine = order_of(signatures(actual, axis, weights));
    const std::vector<std::size_t> theirs = order_of(signatures(expected, axis, weights));
    if (mine == theirs) continue;
    if (error_in(actual, expected, axis, mine, theirs) <= kLeft * as_they_are) return k;
  }
  return std::nullopt;
}

}  // namespace opbench
