#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/context_graph.h"

namespace opbench {

/// Kernels by operator, in the order in which they are tried.
using Variants = std::map<std::string, std::vector<std::string>>;

/// Expands composite operators into operators of the framework, so that formats are planned between
/// them. The form is the one that `variants` names for the operator, else for the operator whose
/// variant it takes, else `native`. A variant that is not a form (`fused`) is an operator of its
/// own and is not expanded. Indices are constants of int32. With `index: generated` they are int64,
/// and every use casts them.
LogicalGraph lower(const LogicalGraph& logical, const Variants& variants,
                   const FrameworkRules& rules);

}  // namespace opbench
