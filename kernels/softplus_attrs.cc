#include <fmt/format.h>

#include "kernels/softplus.h"

namespace opbench {

SoftplusAttrs softplus_attrs_of(const Problem& problem) {
  return {static_cast<float>(problem.attrs.number("beta")),
          static_cast<float>(problem.attrs.number("threshold"))};
}

std::string refuse_unless_plain_softplus(const Problem& problem) {
  const auto [beta, threshold] = softplus_attrs_of(problem);
  if (beta != 1) return fmt::format("it takes beta = 1 only, found {}", beta);
  if (threshold < kSoftplusIsLinear) {
    return fmt::format("it takes a threshold of {} or more only, found {}", kSoftplusIsLinear,
                       threshold);
  }
  return {};
}

}  // namespace opbench
