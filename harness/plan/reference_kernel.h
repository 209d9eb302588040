#pragma once

#include <string_view>

#include "harness/plan/graph.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

SelectedKernels select_reference(const Graph& graph);

/// Kernel of `kReferenceVariant`, for any operator.
const Kernel& reference_kernel();

}  // namespace opbench
