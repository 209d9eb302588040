#pragma once

#include <vector>

#include "ops/op.h"

namespace opbench {

/// beta and threshold, shared by softplus and its gradient.
std::vector<AttrSpec> softplus_attrs();

/// Both as kernels hold them: in fp32, for every dtype.
struct SoftplusNumbers {
  float beta, threshold;

  explicit SoftplusNumbers(const Attrs& attrs)
      : beta(static_cast<float>(attrs.number("beta"))),
        threshold(static_cast<float>(attrs.number("threshold"))) {}

  /// beta*x > threshold in fp32, the product rounded: PyTorch's test, and the device's. A golden
  /// value decided in fp64 would be on the other side where the product is a tie.
  bool is_linear(double x) const { return static_cast<float>(x) * beta > threshold; }
};

/// Around threshold/beta (the strict `>` decides there), around the logarithms of the dtype's
/// maximum and minimum (exp overflows and underflows there), and where 1 + exp(x) loses exp(x).
std::vector<double> softplus_corner_points(const Attrs& attrs, DType dtype);

}  // namespace opbench
