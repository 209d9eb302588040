#pragma once

#include <string_view>
#include <vector>

#include "ops/attrs.h"
#include "ops/op.h"

namespace opbench {

/// The attributes of adam, and the divisors of the means, which correct their start at 0. LAMB has
/// fewer: its weight decay is decoupled.
struct AdamAttrs {
  double lr, beta1, beta2, eps, weight_decay, grad_scale;
  bool is_decoupled, maximizes, is_skipped;
  double correction1 = 1, correction2 = 1;

  explicit AdamAttrs(const Attrs& attrs);
};

/// One element of the parameters with its gradient, moments and the greatest v.
struct AdamElement {
  double p, g, m, v, greatest;
};

AdamElement adam_update(const AdamAttrs& a, bool has_greatest, AdamElement e);

/// The sums of magnitudes for an element. 1 - b and 1 - b^t are differences of numbers that
/// frameworks hold in fp64 and devices in fp32, so that their terms are 1 and b, or b^t.
AdamElement adam_terms(const AdamAttrs& a, bool has_greatest, AdamElement e);

std::vector<AttrSpec> adam_attrs();

/// The parameters, their gradient and both means.
std::vector<TensorSpec> adam_inputs();

}  // namespace opbench
