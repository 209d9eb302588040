#pragma once

#include <vector>

#include "ops/attrs.h"

namespace opbench {

/// alpha, scale and input_scale, for elu and its gradients.
inline std::vector<AttrSpec> elu_attrs() {
  return {{"alpha", 1.0, "factor of e^x - 1"},
          {"scale", 1.0, "factor of the result; selu: 1.0507"},
          {"input_scale", 1.0, "factor of x in the exponent; celu: 1/alpha"}};
}

}  // namespace opbench
