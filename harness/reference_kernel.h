#pragma once

#include <string_view>

#include "harness/graph.h"

namespace opbench {

/// The variant that computes every node by its fp64 reference, rounded to the output's dtype: for
/// dumps to compare against. Runs only when asked for by name.
inline constexpr std::string_view kReferenceVariant = "reference";
Selection select_reference(const Graph& graph);

/// The same as a kernel, for any operator.
const Kernel& reference_kernel();

}  // namespace opbench
