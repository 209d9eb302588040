#pragma once

#include <string>

#include "kernels/kernel.h"

namespace opbench {

/// The NPU's operators that compute softplus, with their kernels.
enum class SoftplusForm { v2, v2_static, v1 };

/// The small operators that a framework composes softplus of; x is the operator's input,
/// `temporary` the result of the previous step.
enum class SoftplusStep {
  scale,  // temporary = beta*x
  abs,
  negate,
  exp,
  log1p,
  add_relu,  // temporary += max(beta*x, 0)
  divide,    // temporary /= beta
  where,     // beta*x > threshold ? x : temporary
};

struct SoftplusAttrs {
  float beta;
  float threshold;
};
SoftplusAttrs softplus_attrs_of(const Problem& problem);

/// From here on log(1+e^x) is x in fp32: e^-18/18 is below half a unit in the last place of 18.
inline constexpr float kSoftplusIsLinear = 18;

/// Refuses a beta other than 1 and a threshold below the point where log(1+e^x) becomes x in fp32,
/// for forms that have neither attribute.
std::string refuse_unless_plain_softplus(const Problem& problem);

}  // namespace opbench
