#pragma once

#include "ops/attrs.h"

namespace opbench {

/// The attributes of rmsprop. The step is multiplied by `inner` before momentum and by `outer`
/// after it; one of them is the learning rate, the other is 1.
struct RmspropAttrs {
  double inner, outer, alpha, eps, momentum, weight_decay;
  bool eps_in_root, maximizes;

  explicit RmspropAttrs(const Attrs& attrs);
};

}  // namespace opbench
