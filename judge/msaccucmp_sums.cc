#include "judge/msaccucmp_sums.h"

#include <cmath>

namespace opbench {
namespace {

double larger_or_nan(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

double smaller_or_nan(double a, double b) { return std::isnan(a) || a <= b ? a : b; }

// Mean and sum of squared distances from it of two parts together, without cancellation. Source:
// Chan, Golub and LeVeque 1979, "Updating formulae and a pairwise algorithm for computing sample
// variances".
void merge_moments(double count, double& mean, double& spread, double later_count,
                   double later_mean, double later_spread) {
  const double all = count + later_count, delta = later_mean - mean;
  spread += later_spread + delta * delta * (count * (later_count / all));
  // Inf - Inf would make the mean of two infinite parts NaN.
  mean = std::isfinite(delta) ? mean + delta * (later_count / all) : mean + later_mean;
}

}  // namespace

void MsaccucmpSums::merge(const MsaccucmpSums& later) {
  if (later.count == 0) return;
  if (count == 0) {
    *this = later;
    return;
  }
  const auto here = static_cast<double>(count), there = static_cast<double>(later.count);
  merge_moments(here, x_mean, x_spread, there, later.x_mean, later.x_spread);
  merge_moments(here, y_mean, y_spread, there, later.y_mean, later.y_spread);
  count += later.count;
  xx += later.xx;
  yy += later.yy;
  xy += later.xy;
  diff_sq += later.diff_sq;
  diff_abs += later.diff_abs;
  rel += later.rel;
  max_diff = larger_or_nan(max_diff, later.max_diff);
  max_rel = larger_or_nan(max_rel, later.max_rel);
  x_min = smaller_or_nan(x_min, later.x_min);
  x_max = larger_or_nan(x_max, later.x_max);
  y_min = smaller_or_nan(y_min, later.y_min);
  y_max = larger_or_nan(y_max, later.y_max);
  kl_x += later.kl_x;
  kl_y += later.kl_y;
  kl_log += later.kl_log;
}

KlScale kl_scale(double min, double max) {
  if (min == max) return {};
  return {min, 1 / (max - min)};
}

// With p = N(x)/kl_x and q = N(y)/kl_y the sum of p*log(p/q) is
// sum of N(x)/kl_x * (log(N(x)/N(y)) + log(kl_y/kl_x)).
double kl_divergence(const MsaccucmpSums& sums) {
  return sums.kl_log / sums.kl_x + std::log(sums.kl_y / sums.kl_x);
}

}  // namespace opbench
