#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "harness/plan/graph.h"
#include "kernels/kernel.h"

namespace opbench {

/// The kernel of every node for one variant, or the reason why the variant refuses the graph.
struct SelectedKernels {
  std::string variant;
  std::vector<const Kernel*> kernels;
  std::string refusal;

  Provider provider() const { return kernels.front()->provider; }
  /// The narrowest input range of all kernels.
  InputRange takes() const;
  /// "softplus_v2+reduce_mean+native+softplus_v2_grad"
  std::string kernel_names() const;
};

/// Bytes of the temporaries that the kernels allocate for a graph. Call inside `with_threads`.
std::size_t temporary_bytes(const Graph& graph, const SelectedKernels& selection);

/// Selects `kernel` for the first node and its family for the gradient of that operator. The nodes
/// around them use the same provider's kernel if there is one, else the native one.
SelectedKernels select_kernels(const Graph& graph, const Kernel& kernel);

/// True if the list has the kernel's name or that of its family, or is empty.
bool is_wanted(const Kernel& kernel, const std::vector<std::string>& wanted);

/// Allowed names of `--variant` for these operators: kernels, their families, and the reference.
std::set<std::string> variant_names(const std::set<const Op*>& ops);

/// Refuses unknown variant names.
/// Errors: throws Error that suggests one of `known`.
void check_variant_names(const std::vector<std::string>& wanted,
                         const std::set<std::string>& known);

}  // namespace opbench
