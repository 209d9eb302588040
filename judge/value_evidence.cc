#include "judge/value_evidence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace opbench {
namespace {

constexpr int kDoubleBits = 53;

// Bits from the first to the last that is set, of a significand.
int significand_bits(double value) {
  if (value == 0) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(value) & ((std::uint64_t{1} << 52) - 1);
  return bits == 0 ? 1 : kDoubleBits - std::countr_zero(bits);
}

// The exponent of a finite number that is not 0; of a subnormal one that of the smallest normal.
double exponent(double value) {
  constexpr int kBias = 1023, kMantissaBits = 52, kExponents = 0x7ff;
  const auto stored = std::bit_cast<std::uint64_t>(value) >> kMantissaBits;
  return static_cast<int>(stored & kExponents) - kBias;
}

/// Of pairs of finite values.
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

/// Of |a-e|/|e|, values smaller than the typical one apart from the others.
struct RelativeErrors {
  double largest = 0, squares[2] = {0, 0}, counts[2] = {0, 0};

  void add(double a, double e, double typical_exponent) {
    // Below, numbers of fp16 lose their bits; a sum that cancels tells nothing of its terms.
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
  // Rounding to p bits is off by 2^-p of the value at most.
  evidence["kept_bits"] = std::round(-std::log2(errors.largest));
  if (errors.counts[0] == 0 || errors.counts[1] == 0 || errors.squares[1] == 0) return;
  evidence["small_to_large"] =
      std::sqrt(errors.squares[0] / errors.counts[0] / (errors.squares[1] / errors.counts[1]));
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

}  // namespace opbench
