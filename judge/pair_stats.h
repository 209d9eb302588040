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

/// The element where an error is largest, the first of several; where elements differ in their bits
/// alone, the first of them with an error of 0. Index -1 where nothing is off.
struct WorstElement {
  std::int64_t index = -1;  ///< in logical row-major order
  double actual = 0, expected = 0;
  double error = 0;
};

/// Counts by bucket. Keeps those between the first and the last that hold any, because there is one
/// of these for every tensor of a dump.
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

/// How far the elements of one tensor are from another's; all arithmetic in fp64, sums in a fixed
/// order of blocks.
///
/// NaN agrees with NaN, Inf with the Inf of its sign; any other pair with a NaN or an Inf is a
/// mismatch and enters no error. +0 = -0. Relative errors are |a - e| / max(|e|, smallest normal)
/// with the smallest normal number of the coarser of both dtypes, 1 for integers, or the
/// tolerance's relative_floor where that is larger. ULP distances are those of that dtype, both
/// values rounded to it first. Integers are subtracted exactly.
struct PairStats {
  std::int64_t count = 0;
  ValueCounts actual, expected;
  std::int64_t nan_mismatches = 0;   ///< NaN on one side only
  std::int64_t inf_mismatches = 0;   ///< Inf on one side only, or of the other sign; no NaN
  std::int64_t first_mismatch = -1;  ///< index of the first NaN or Inf mismatch
  double mismatch_actual = 0, mismatch_expected = 0;  ///< the values there
  std::int64_t unequal = 0;  ///< by the tolerance's equality, mismatches included
  /// Within atol + rtol*|expected|, agreeing NaN and Inf included; equal ones where bits count.
  std::int64_t inside = 0;
  std::int64_t beyond_limit = 0;  ///< off by more than the limit, in value and in ULP
  WorstElement worst_abs, worst_rel;
  WorstElement worst_outside, worst_beyond;  ///< by value, of those not inside, beyond the limit
  double sum_abs = 0, sum_rel = 0;           ///< of the errors, over finite pairs
  /// In wider numbers: squares of fp64's smallest and largest values leave fp64.
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
  /// `min_tolerance` of all pairs: infinite where NaN or Inf is on one side only, or where nothing
  /// but zeros is expected and something else is there.
  double tolerance_of_all() const;
  /// Joins what was measured of the elements after these.
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

  /// Joins what the first pass found in the elements after these; the second pass's sums are added.
  void merge(const MsaccucmpSums& later);
};

/// One side's N of the KL divergence: N(v) = max((v - shift) * scale, 2^-23).
struct KlScale {
  double shift = 0, scale = 1;
};

/// Values from `min` to `max` are spread over [0, 1]; those of a constant side stay as they are.
KlScale kl_scale(double min, double max);

/// The divergence of p = N(x)/kl_x from q = N(y)/kl_y: the sum of p*log(p/q).
double kl_divergence(const MsaccucmpSums& sums);

/// Both files store HDF5 booleans, which msaccucmp treats on its own.
struct BooleanCounts {
  std::int64_t count = 0, x_true = 0, y_true = 0, both_true = 0;
};

}  // namespace opbench
