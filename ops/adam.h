#pragma once

#include "ops/attrs.h"

namespace opbench {

/// The attributes of adam, and the divisors of the means, which correct their start at 0.
struct AdamAttrs {
  double lr, beta1, beta2, eps, weight_decay, grad_scale;
  bool is_decoupled, maximizes, is_skipped;
  double correction1 = 1, correction2 = 1;

  explicit AdamAttrs(const Attrs& attrs);
};

}  // namespace opbench
