#pragma once

#include <string>

#include "kernels/kernel.h"

namespace opbench {

struct SoftplusAttrs {
  float beta;
  float threshold;
};
SoftplusAttrs softplus_attrs_of(const Problem& problem);

/// Refuses all but beta = 1 and a threshold beyond which log(1+e^x) is x in fp32: for forms that have neither attribute.
std::string refuse_unless_plain_softplus(const Problem& problem);

}  // namespace opbench
