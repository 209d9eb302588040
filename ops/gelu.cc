#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

constexpr double kCubic = 0.044715;  // Hendrycks and Gimpel 2016, section 2
const double kRootOf8OverPi = std::sqrt(8 / std::numbers::pi);

double distribution(double x) { return std::erfc(-x * std::numbers::sqrt2 / 2) / 2; }
double density(double x) { return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::sqrt(2); }

// (1 + tanh(u))/2 is the sigmoid of 2u, which does not cancel.
double sigmoid_of_twice_u(double x) {
  return 1 / (1 + std::exp(-kRootOf8OverPi * (x + kCubic * x * x * x)));
}

double slope_of_twice_u(double x) { return kRootOf8OverPi * (1 + 3 * kCubic * x * x); }

double slope(double x, bool by_tanh) {
  if (!by_tanh) return distribution(x) + x * density(x);
  const double s = sigmoid_of_twice_u(x);
  return s + x * (s * (1 - s)) * slope_of_twice_u(x);
}

bool by_tanh(const Attrs& attrs) { return attrs.word("approximate") == "tanh"; }

}  // namespace

std::vector<AttrSpec> gelu_attrs() {
  return {{"approximate", std::string("none"), "none: by erf; tanh: by tanh",
           [](const AttrValue& value) -> std::string {
             const auto& word = std::get<std::string>(value);
             return word == "none" || word == "tanh" ? "" : "allowed: none, tanh";
           }}};
}

std::function<double(double)> gelu_of(const Attrs& attrs) {
  if (by_tanh(attrs)) return [](double x) { return x * sigmoid_of_twice_u(x); };
  return [](double x) { return x * distribution(x); };
}

double gelu_cancellation(double x, double epsilon) {
  const double e = std::exp(-kRootOf8OverPi * std::fabs(x + kCubic * x * x * x));
  const double room = 2 * e / (1 + e);  // 1 - |tanh(u)|
  if (room == 0) return 0;
  // Closer to 1 than a quarter of a step, tanh is rounded to 1, and nothing is left of the slope.
  return std::fabs(x) / 2 * slope_of_twice_u(x) / 2 * std::min(1.0, 4 * room / epsilon);
}

std::function<double(double, double)> gelu_grad_of(const Attrs& attrs) {
  return [tanh = by_tanh(attrs)](double dy, double x) { return dy * slope(x, tanh); };
}

}  // namespace opbench
