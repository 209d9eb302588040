#pragma once

#include <span>
#include <vector>

namespace opbench::check {

// Statistics of the regression check. Ratios are logarithms of times: log(1.05) is 5% slower.

struct Interval {
  double low = 0, high = 0;
};

/// Bootstrap medians of some values, for percentile intervals of their median. The seed is fixed:
/// the same values give the same interval everywhere. Source: Efron & Tibshirani 1993, An
/// Introduction to the Bootstrap, chapter 13.
class BootstrapMedians {
 public:
  /// At least one value. With `groups` (a number for each value), whole groups are drawn, and then
  /// values of each (cluster bootstrap), because values of a group are correlated.
  explicit BootstrapMedians(std::span<const double> values, std::span<const int> groups = {});

  /// The interval that leaves out (1 - `confidence`) / 2 of the medians on each side.
  Interval interval(double confidence) const;

 private:
  std::vector<double> medians_;  ///< ascending
};

/// Median of each group, in the order of their numbers. If `groups` is empty: one median of all
/// values.
std::vector<double> group_medians(std::span<const double> values, std::span<const int> groups);

/// Two-sided p of this number of positive and negative values (without zeros) if both signs were
/// equally likely; 1 without values. Exact.
double sign_test(std::span<const double> values);

/// Two-sided p of Student's t with `freedom` degrees of freedom, a positive number.
double student_p(double t, double freedom);

/// Two-sided p of equal means of two samples with possibly different variances. 1 if a sample has
/// fewer than two values, or if all values are equal. Source: Welch 1947, Biometrika 34, 28-35.
double welch_test(std::span<const double> first, std::span<const double> second);

/// Two-sided p of equal locations of two samples, by their ranks, so that outliers have little
/// weight. A normal approximation with corrections for ties and continuity. Source: Mann & Whitney
/// 1947, Ann. Math. Stat. 18, 50-60.
double rank_sum_test(std::span<const double> first, std::span<const double> second);

/// p-values adjusted for their number, in their order. Rejecting those of at most q gives a false
/// discovery rate of q. Source: Benjamini & Hochberg 1995, J. R. Statist. Soc. B 57, 289-300.
std::vector<double> benjamini_hochberg(std::span<const double> p);

/// Standard error of the median of `rounds` values with the spread of `values`. The spread is their
/// median absolute deviation, which is robust against a few disturbed values.
double median_standard_error(std::span<const double> values, int rounds);

}  // namespace opbench::check
