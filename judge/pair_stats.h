#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "judge/standard.h"
#include "tensor/dtype.h"
#include "text/packed.h"

namespace opbench {

/// Values of one side of a comparison.
struct ValueCounts {
  std::int64_t nan = 0, positive_inf = 0, negative_inf = 0, zero = 0;
  double min = 0, max = 0;  ///< over finite values; both 0 without any
};

/// The element with the largest error, the first of several. If elements differ only in their bits,
/// it is the first of these, with an error of 0. Index -1: there are no errors.
struct WorstElement {
  std::int64_t index = -1;  ///< in logical row-major order
  double actual = 0, expected = 0;
  double error = 0;
};

/// Counts by bucket. Stores only those between the first and the last non-empty one, because every
/// tensor of a dump has such counts.
class BucketCounts {
 public:
  std::int64_t operator[](std::size_t bucket) const {
    const bool is_kept = bucket >= first_ && bucket - first_ < counts_.size();
    return is_kept ? counts_[bucket - first_] : 0;
  }
  void add(std::size_t bucket, std::int64_t count);
  void add(const BucketCounts& others);
  std::int64_t total() const;

  bool operator==(const BucketCounts&) const = default;
  template <class V>
  friend void each_field(V& v, FieldsOf<BucketCounts> auto& counts) {
    v.fields(counts.first_, counts.counts_);
  }

 private:
  std::size_t first_ = 0;
  std::vector<std::int64_t> counts_;
};

/// Error magnitudes by powers of two: bucket b counts 2^(b-1+kLowest) <= error < 2^(b+kLowest).
struct ErrorHistogram {
  static constexpr int kLowest = -40;
  static constexpr int kBuckets = 64;
  std::int64_t exact = 0;  ///< no error
  BucketCounts counts;     ///< the first and the last hold all beyond them
};

/// The differences between the elements of two tensors. All arithmetic is in fp64, with sums in a
/// fixed order of blocks.
///
/// NaN agrees with NaN, Inf with the Inf of its sign. Any other pair with a NaN or an Inf is a
/// mismatch and does not enter any error. +0 = -0. Relative errors are |a - e| / max(|e|, smallest
/// normal) with the smallest normal number of the coarser dtype, 1 for integers, or the tolerance's
/// relative_floor if that is larger. ULP distances are those of that dtype, with both values
/// rounded to it first. Integers are subtracted exactly.
struct PairStats {
  std::int64_t count = 0;
  ValueCounts actual, expected;
  std::int64_t nan_mismatches = 0;   ///< NaN on one side only
  std::int64_t inf_mismatches = 0;   ///< Inf on one side only, or of the other sign; no NaN
  std::int64_t first_mismatch = -1;  ///< index of the first NaN or Inf mismatch
  double mismatch_actual = 0, mismatch_expected = 0;  ///< the values there
  std::int64_t unequal = 0;  ///< by the tolerance's equality, mismatches included
  /// Within atol + rtol*|expected|, agreeing NaN and Inf included; only equal elements if bits
  /// count.
  std::int64_t inside = 0;
  std::int64_t beyond_limit = 0;  ///< off by more than the limit, in value and in ULP
  WorstElement worst_abs, worst_rel;
  WorstElement worst_outside, worst_beyond;  ///< by value, of those not inside, beyond the limit
  double sum_abs = 0, sum_rel = 0;           ///< of the errors, over finite pairs
  /// Wider than fp64, since squares of fp64's smallest and largest values exceed its range.
  long double sum_sq = 0, sum_expected_sq = 0, sum_actual_sq = 0, sum_product = 0;
  double max_ulp = 0, sum_ulp = 0;
  /// Least t with |actual - expected| <= t*scale + t*|expected| for all finite pairs.
  double min_tolerance = 0;
  double scale = 1;  ///< of what is expected, where the tolerance follows it
  ErrorHistogram histogram;

  std::int64_t finite_pairs() const;
  std::int64_t nonfinite_mismatches() const { return nan_mismatches + inf_mismatches; }
  double mean_abs() const;
  double mean_rel() const;
  double rmse() const;
  double mean_ulp() const;
  double cosine() const;  ///< 1 if both are all zero, 0 if one is
  double inside_share() const;
  /// `min_tolerance` of all pairs. It is infinite if NaN or Inf is on one side only, or if all
  /// expected values are zero and some actual values are not.
  double tolerance_of_all() const;
  /// Joins the measures of the elements after these.
  void merge(const PairStats& later);
};

template <class V>
void each_field(V& v, FieldsOf<PairStats> auto& s) {
  v.fields(s.count, s.actual, s.expected, s.nan_mismatches, s.inf_mismatches, s.first_mismatch,
           s.mismatch_actual, s.mismatch_expected, s.unequal, s.inside, s.beyond_limit, s.worst_abs,
           s.worst_rel, s.worst_outside, s.worst_beyond, s.sum_abs, s.sum_rel, s.sum_sq,
           s.sum_expected_sq, s.sum_actual_sq, s.sum_product, s.max_ulp, s.sum_ulp, s.min_tolerance,
           s.scale, s.histogram.exact, s.histogram.counts);
}

/// The sums behind msaccucmp's ten metrics: its element-wise arithmetic in float32 on values cast
/// to float32, sums in fp64 (x is the NPU's, y the golden value).
struct MsaccucmpSums {
  std::int64_t count = 0;
  double xx = 0, yy = 0, xy = 0;                      ///< of x*x, y*y, x*y
  double diff_sq = 0, diff_abs = 0;                   ///< of (x-y)^2, |x-y|
  double rel = 0;                                     ///< of |x/y - 1|, 0 where |y| <= 2^-52
  double max_diff = 0, max_rel = 0;                   ///< NaN if any is
  double x_min = 0, x_max = 0, y_min = 0, y_max = 0;  ///< NaN if any is
  double x_mean = 0, y_mean = 0;
  double x_spread = 0, y_spread = 0;  ///< sum of (x - mean)^2
  // The second pass; see KlScale.
  double kl_x = 0, kl_y = 0;  ///< of N(x), N(y)
  double kl_log = 0;          ///< of N(x)*log(N(x)/N(y))

  /// Joins the first pass's results for the elements after these, and adds the second pass's sums.
  void merge(const MsaccucmpSums& later);
};

/// One side's N of the KL divergence: N(v) = max((v - shift) * scale, 2^-23).
struct KlScale {
  double shift = 0, scale = 1;
};

/// Maps values from `min` to `max` to [0, 1]. Values of a constant side do not change.
KlScale kl_scale(double min, double max);

/// The divergence of p = N(x)/kl_x from q = N(y)/kl_y: the sum of p*log(p/q).
double kl_divergence(const MsaccucmpSums& sums);

/// Counts for files that both store HDF5 booleans, which msaccucmp treats separately.
struct BooleanCounts {
  std::int64_t count = 0, x_true = 0, y_true = 0, both_true = 0;
};

}  // namespace opbench
