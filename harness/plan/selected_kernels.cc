#include "harness/plan/selected_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/plan/context.h"
#include "tensor/error.h"

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
  // A native or vendor variant needs a gradient kernel of its own provider. The device has a
  // gradient operator for all its variants.
  if (node.under_test && wanted.provider != Provider::npu) return nullptr;
  const Kernel* same_provider = first([&](const Kernel* k) {
    return k->provider == wanted.provider && refusal(*k, node.problem).empty();
  });
  return same_provider != nullptr
             ? same_provider
             : first([](const Kernel* k) { return k->provider == Provider::framework; });
}

}  // namespace

InputRange SelectedKernels::takes() const {
  InputRange range = InputRange::any;
  for (const Kernel* kernel : kernels) range = std::max(range, kernel->takes);
  return range;
}

std::string SelectedKernels::kernel_names() const {
  std::vector<std::string_view> names;
  for (const Kernel* kernel : kernels) names.push_back(kernel->name);
  return fmt::format("{}", fmt::join(names, "+"));
}

std::size_t temporary_bytes(const Graph& graph, const SelectedKernels& selection) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < selection.kernels.size(); ++i) {
    bytes += temporary_bytes(*selection.kernels[i], graph.nodes[i].problem);
  }
  return bytes;
}

SelectedKernels select_kernels(const Graph& graph, const Kernel& kernel) {
  SelectedKernels selection{std::string(kernel.name), {}, {}};
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

bool is_wanted(const Kernel& kernel, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), kernel.name) != wanted.end() ||
         std::find(wanted.begin(), wanted.end(), kernel.family_name()) != wanted.end();
}

std::set<std::string> variant_names(const std::set<const Op*>& ops) {
  std::set<std::string> names = {std::string(kReferenceVariant)};
  for (const Op* op : ops) {
    for (const Kernel* kernel : kernels_of(op->name)) {
      names.insert(std::string(kernel->name));
      names.insert(std::string(kernel->family_name()));
    }
  }
  return names;
}

void check_variant_names(const std::vector<std::string>& wanted,
                         const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& name : wanted) {
    if (known.contains(name)) continue;
    throw Error(
        fmt::format("no operator of this run has a variant '{}'{}", name, suggestion(name, names)));
  }
}

}  // namespace opbench
