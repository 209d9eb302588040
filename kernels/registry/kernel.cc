#include "kernels/registry/kernel.h"

#include <algorithm>

#include "ops/promotion.h"

namespace opbench {

std::string_view name(Provider provider) {
  switch (provider) {
    case Provider::framework:
      return "native";
    case Provider::npu:
      return "npu";
    case Provider::vendor:
      return "vendor";
  }
  return "?";
}

std::vector<const Kernel*> kernels_of(std::string_view op) {
  std::vector<const Kernel*> kernels;
  for (const Kernel* kernel : RegisteredKernel::all()) {
    if (kernel->op == op) kernels.push_back(kernel);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Kernel* a, const Kernel* b) { return a->provider < b->provider; });
  return kernels;
}

std::string refusal(const Kernel& kernel, const Problem& problem) {
  if (!kernel.promotes && has_mixed_dtypes(*problem.op, problem.inputs)) {
    return "inputs of different dtypes must be cast to one before";
  }
  return kernel.refusal == nullptr ? std::string() : kernel.refusal(problem);
}

std::string note(const Kernel& kernel, const Problem& problem) {
  const bool is_silent = kernel.note == nullptr || !refusal(kernel, problem).empty();
  return is_silent ? std::string() : kernel.note(problem);
}

std::size_t temporary_bytes(const Kernel& kernel, const Problem& problem) {
  return kernel.temporary_bytes == nullptr ? 0 : kernel.temporary_bytes(problem);
}

}  // namespace opbench
