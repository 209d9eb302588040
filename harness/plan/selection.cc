#include "harness/plan/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace opbench {

namespace {

const Kernel* kernel_for(const Node& node, const Kernel& wanted) {
  const std::vector<const Kernel*> kernels = kernels_of(node.problem.op->name);
  const auto first = [&](auto&& fits) -> const Kernel* {
    const auto found = std::find_if(kernels.begin(), kernels.end(), fits);
    return found == kernels.end() ? nullptr : *found;
  };
  if (node.problem.op->name == wanted.op) return &wanted;
  const Kernel* same_family =
      first([&](const Kernel* k) { return k->family_name() == wanted.family_name(); });
  if (same_family != nullptr) return same_family;
  // The gradient of a native or vendor variant is theirs or none; the device has an operator for
  // all.
  if (node.under_test && wanted.provider != Provider::npu) return nullptr;
  const Kernel* same_provider = first([&](const Kernel* k) {
    return k->provider == wanted.provider && refusal(*k, node.problem).empty();
  });
  return same_provider != nullptr
             ? same_provider
             : first([](const Kernel* k) { return k->provider == Provider::framework; });
}

}  // namespace

InputRange Selection::takes() const {
  InputRange range = InputRange::any;
  for (const Kernel* kernel : kernels) range = std::max(range, kernel->takes);
  return range;
}

std::string Selection::kernel_names() const {
  std::vector<std::string_view> names;
  for (const Kernel* kernel : kernels) names.push_back(kernel->name);
  return fmt::format("{}", fmt::join(names, "+"));
}

std::size_t temporary_bytes(const Graph& graph, const Selection& selection) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < selection.kernels.size(); ++i) {
    bytes += temporary_bytes(*selection.kernels[i], graph.nodes[i].problem);
  }
  return bytes;
}

Selection select_kernels(const Graph& graph, const Kernel& kernel) {
  Selection selection{std::string(kernel.name), {}, {}};
  for (const Node& node : graph.nodes) {
    const Kernel* chosen = kernel_for(node, kernel);
    if (chosen == nullptr) {
      selection.refusal = fmt::format("{} has no variant of the family '{}'", node.problem.op->name,
                                      kernel.family_name());
      return selection;
    }
    selection.kernels.push_back(chosen);
    const std::string reason = refusal(*chosen, node.problem);
    if (!reason.empty()) {
      selection.refusal = reason;
      return selection;
    }
  }
  return selection;
}

}  // namespace opbench
