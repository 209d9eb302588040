#include "tests/compare/msaccucmp/msaccucmp_definition.h"

#include <algorithm>
#include <cmath>

namespace opbench {
namespace {

double larger_or_nan(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

double smaller_or_nan(double a, double b) { return std::isnan(a) || a <= b ? a : b; }

// |x/y - 1| in float32. The comparison is false for NaN as well, which then counts as 0.
double relative_error(float x, float y) {
  constexpr float kEpsilon = 0x1p-52f;
  if (!(std::fabs(y) > kEpsilon)) return 0;
  const float quotient = x / y;
  return std::fabs(quotient - 1);
}

void add_range(double value, double& min, double& max) {
  min = smaller_or_nan(min, value);
  max = larger_or_nan(max, value);
}

void add_to_sums(MsaccucmpSums& sums, float x_float, float y_float) {
  const double x = x_float, y = y_float, difference = std::fabs(x - y);
  const double rel = relative_error(x_float, y_float);
  sums.xx += x * x;
  sums.yy += y * y;
  sums.xy += x * y;
  sums.diff_sq += difference * difference;
  sums.diff_abs += difference;
  sums.rel += rel;
  sums.max_diff = larger_or_nan(sums.max_diff, difference);
  sums.max_rel = larger_or_nan(sums.max_rel, rel);
  sums.x_mean += x;
  sums.y_mean += y;
  add_range(x, sums.x_min, sums.x_max);
  add_range(y, sums.y_min, sums.y_max);
}

double spread(const float* values, std::int64_t count, double mean) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double distance = values[i] - mean;
    sum += distance * distance;
  }
  return sum;
}

double normalised(const KlScale& scale, float value) {
  return std::max((value - scale.shift) * scale.scale, 0x1p-23);
}

}  // namespace

MsaccucmpSums measure_msaccucmp(std::int64_t count, const float* x, const float* y) {
  MsaccucmpSums sums;
  if (count == 0) return sums;
  sums.count = count;
  sums.x_min = sums.x_max = x[0];
  sums.y_min = sums.y_max = y[0];
  for (std::int64_t i = 0; i < count; ++i) add_to_sums(sums, x[i], y[i]);
  sums.x_mean /= static_cast<double>(count);
  sums.y_mean /= static_cast<double>(count);
  sums.x_spread = spread(x, count, sums.x_mean);
  sums.y_spread = spread(y, count, sums.y_mean);
  return sums;
}

KlSums measure_kl(const KlScales& scales, std::int64_t count, const float* x, const float* y) {
  KlSums sums;
  for (std::int64_t i = 0; i < count; ++i) {
    const double p = normalised(scales.x, x[i]), q = normalised(scales.y, y[i]);
    sums.merge({p, q, p * std::log(p / q)});
  }
  return sums;
}

}  // namespace opbench
