#include <cmath>

#include "ops/softplus.h"

namespace opbench {
namespace {

std::string nonzero(const AttrValue& value) {
  return static_cast<float>(std::get<double>(value)) == 0
             ? "beta = 0 divides by zero; any other number of fp32 is allowed"
             : "";
}

}  // namespace

std::vector<AttrSpec> softplus_attrs() {
  return {{"beta", 1.0, "steepness", nonzero},
          {"threshold", 20.0, "y = x where beta*x > threshold"}};
}

std::vector<double> softplus_corner_points(const Attrs& attrs, DType dtype) {
  const double beta = attrs.number("beta");
  const double edge = attrs.number("threshold") / beta;
  // ln of the largest finite and the smallest normal value.
  const bool is_half = dtype == DType::fp16;
  const double log_max = is_half ? 11.0898 : 88.7228, log_min = is_half ? -9.7041 : -87.3365;
  std::vector<double> points;
  for (const double nudge : {0.0, 1e-7, -1e-7, 1e-3, -1e-3}) points.push_back(edge * (1 + nudge));
  for (const double t : {log_max - 0.01, log_max, log_max + 0.01, log_min - 0.01, log_min,
                         log_min + 0.01, -103.0, -104.0, -12.0, -16.0, -17.0, 1e-4, -1e-4}) {
    points.push_back(t / beta);
  }
  return points;
}

}  // namespace opbench
