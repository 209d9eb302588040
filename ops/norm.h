#pragma once

#include <cmath>
#include <limits>

#include "ops/op.h"

namespace opbench {

/// The order p of a norm. The largest number of fp32 stands for infinity, too.
struct NormOrder {
  double p;
  bool is_max, is_min;  ///< p is infinity, -infinity

  explicit NormOrder(const Attrs& attrs)
      : p(attrs.number("p")),
        is_max(p >= double(std::numeric_limits<float>::max())),
        is_min(p <= -double(std::numeric_limits<float>::max())) {}

  bool is_extreme() const { return is_max || is_min; }

  /// The norm of a sum of powers.
  double root_of(double sum) const {
    if (p == 0 || p == 1) return sum;
    return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  }

  /// A sum or an extreme, before the first term.
  double first() const { return is_min ? std::numeric_limits<double>::infinity() : 0; }
  /// A sum or an extreme, with one more; NaN stays.
  double joined(double up_to_here, double more) const {
    if (!is_extreme()) return up_to_here + more;
    const bool is_further = is_max ? more > up_to_here : more < up_to_here;
    return is_further || std::isnan(more) ? more : up_to_here;
  }

  /// The derivative of the norm, 0 if it is 0. `equals`: the elements of the norm's magnitude,
  /// which share the derivative of an extreme.
  double slope(double x, double norm, double equals) const {
    if (p == 0 || norm == 0 || x == 0) return 0;
    const double sign = std::copysign(1.0, x);
    if (is_extreme()) return std::fabs(x) == norm ? sign / equals : 0;
    if (p == 2) return x / norm;
    return p == 1 ? sign : sign * std::pow(std::fabs(x) / norm, p - 1);
  }
};

}  // namespace opbench
