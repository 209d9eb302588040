#pragma once

#include <cstdint>

namespace opbench {

/// What msaccucmp's ten metrics are made of: its element-wise arithmetic in float32 on values cast
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
