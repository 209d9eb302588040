#include "harness/plan/kernel_choice.h"

#include <algorithm>

#include "harness/plan/reference_kernel.h"

namespace opbench {

const std::vector<const Kernel*>& KernelChoice::all(std::string_view op) {
  const auto found = known_.find(op);
  if (found != known_.end()) return found->second;
  return known_.emplace(op, kernels_of(op)).first->second;
}

std::vector<std::string> KernelChoice::names(const Problem& problem) const {
  const Op& op = *problem.op;
  const auto found = variants_.find(std::string(op.name));
  if (found != variants_.end()) return found->second;
  return op.context.variants == nullptr ? std::vector<std::string>() : op.context.variants(rules_);
}

std::vector<const Kernel*> KernelChoice::by_default(const Problem& problem) {
  std::vector<const Kernel*> result = all(problem.op->name);
  // An operator that the framework computes by views and a copy stays in the framework by default.
  const bool is_copy = problem.op->context.view_copies == ViewCopies::in_framework;
  Provider wanted = is_copy ? Provider::framework : Provider::npu;
  if (const auto found = variants_.find(std::string(kDefaultVariants)); found != variants_.end()) {
    const std::string& name = found->second.front();
    if (name == kReferenceVariant) return {&reference_kernel()};
    if (name == "native") wanted = Provider::framework;
    if (name == "onednn") wanted = Provider::vendor;
  }
  const auto rank = [&](const Kernel* kernel) {
    if (kernel->provider == wanted) {
      return kernel->is_made_for != nullptr && kernel->is_made_for(problem) ? 0 : 1;
    }
    if (kernel->provider == Provider::npu) return 2;
    return kernel->provider == Provider::framework ? 3 : 4;
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const Kernel* a, const Kernel* b) { return rank(a) < rank(b); });
  // The vendor's library is used only if the context names it.
  if (wanted != Provider::vendor) {
    std::erase_if(result, [](const Kernel* k) { return k->provider == Provider::vendor; });
  }
  return result;
}

std::vector<const Kernel*> KernelChoice::candidates(const Problem& problem) {
  const std::vector<std::string> wanted = names(problem);
  if (wanted.empty()) return by_default(problem);
  std::vector<const Kernel*> result;
  for (const std::string& name : wanted) {
    if (name == kReferenceVariant) result.push_back(&reference_kernel());
    for (const Kernel* kernel : all(problem.op->name)) {
      if (kernel->name == name) result.push_back(kernel);
    }
  }
  return result;
}

const Kernel* KernelChoice::first_that_takes(const Problem& problem) {
  for (const Kernel* kernel : candidates(problem)) {
    if (refusal(*kernel, problem).empty()) return kernel;
  }
  return nullptr;
}

}  // namespace opbench
