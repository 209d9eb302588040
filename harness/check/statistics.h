#pragma once

#include <span>
#include <vector>

namespace opbench::check {

// What the regression check decides with. Ratios are logarithms of times: log(1.05) is 5% slower.

struct Interval {
  double low = 0, high = 0;
};

/// The medians of resamples of some values, for percentile intervals of their median. The seed is
/// fixed: the same values give the same interval everywhere.
/// Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
class BootstrapMedians {
 public:
  /// At least one value. With `groups`, one number for each value, whole groups are drawn, and then
  /// values of each: what the values of a group share counts once.
  explicit BootstrapMedians(std::span<const double> values, std::span<const int> groups = {});

  /// The interval that leaves out (1 - `confidence`) / 2 of the medians on each side.
  Interval interval(double confidence) const;

 private:
  std::vector<double> medians_;  ///< ascending
};

/// The median of each group, in the order of their numbers; of all values if `groups` is empty.
std::vector<double> group_medians(std::span<const double> values, std::span<const int> groups);

/// Two-sided p of as many positive and negative values (zeros left out) if both signs were equally
/// likely; 1 without values. Exact.
double sign_test(std::span<const double> values);

/// Two-sided p of Student's t with `freedom` degrees, a positive number.
double student_p(double t, double freedom);

/// Two-sided p that values of two samples have the same mean; their spreads may differ. 1 where
/// either has fewer than two values or none differs. Source: Welch 1947, Biometrika 34, 28-35.
double welch_test(std::span<const double> first, std::span<const double> second);

/// Two-sided p that values of two samples are equally large, by their ranks: a few wild values
/// count no more than others. A normal approximation with corrections for ties and continuity.
/// Source: Mann & Whitney 1947, Ann. Math. Stat. 18, 50-60.
double rank_sum_test(std::span<const double> first, std::span<const double> second);

/// The p-values adjusted for their number, in their order: what is at most q is rejected at a false
/// discovery rate of q. Source: Benjamini & Hochberg 1995, J. R. Statist. Soc. B 57, 289-300.
std::vector<double> benjamini_hochberg(std::span<const double> p);

/// Standard error of the median of `rounds` values with the spread of `values`, which is taken from
/// their median absolute deviation so that a few disturbed ones do not count.
double median_standard_error(std::span<const double> values, int rounds);

}  // namespace opbench::check
