#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace opbench {

/// oneDNN's kernel of the operator; null if it does not exist or the build has no oneDNN.
inline const Kernel* peer_of(std::string_view op) {
  const std::vector<const Kernel*> kernels = kernels_of(op);
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [](const Kernel* kernel) { return kernel->name == "onednn"; });
  return found == kernels.end() ? nullptr : *found;
}

}  // namespace opbench
