#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/lowering.h"
#include "kernels/kernel.h"

namespace opbench {

/// Kernels that may compute a node of a context, in the order in which they are tried.
class KernelChoice {
 public:
  KernelChoice(const Variants& variants, const FrameworkRules& rules)
      : variants_(variants), rules_(rules) {}

  /// Kernels that `variants` names for the operator; else the operator's own choice; else those of
  /// the default provider, then the device's, then the framework's. Kernels that are specialised
  /// for the problem come before others of their provider.
  std::vector<const Kernel*> candidates(const Problem& problem);

  /// The first candidate that takes the problem unconverted; null: none takes it.
  const Kernel* first_that_takes(const Problem& problem);

 private:
  const std::vector<const Kernel*>& all(std::string_view op);
  std::vector<std::string> names(const Problem& problem) const;
  std::vector<const Kernel*> by_default(const Problem& problem);

  const Variants& variants_;
  const FrameworkRules& rules_;
  std::map<std::string, std::vector<const Kernel*>, std::less<>> known_;
};

}  // namespace opbench
