#include <fmt/format.h>

#include "kernels/softplus.h"

namespace opbench {

SoftplusAttrs softplus_attrs_of(const Problem& problem) {
  return {static_cast<float>(problem.attrs.number("beta")),
          static_cast<float>(problem.attrs.number("threshold"))};
}

std::string refuse_unless_plain_softplus(const Problem& problem) {
  // e^-16/16 is below half a unit in the last place of an fp32 16.
  constexpr float kNoEffect = 16;
  const auto [beta, threshold] = softplus_attrs_of(problem);
  if (beta != 1) return fmt::format("it has no beta: 1 only, found {}", beta);
  if (threshold < kNoEffect) {
    return fmt::format("it has no threshold: {} or more only, found {}", kNoEffect, threshold);
  }
  return {};
}

}  // namespace opbench
