#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/context_graph.h"

namespace opbench {

/// Kernels by operator, in the order in which they are tried.
using Variants = std::map<std::string, std::vector<std::string>>;

/// Writes composite operators as the operators of the framework that they stand for, so that
/// formats are planned between them. The form is the one that `variants` names for the operator,
/// else for the operator whose variant it takes, else `native`; a variant that is no form (`fused`)
/// is an operator of its own and stays. Indices are constants of int32, or with
/// `index: generated` of int64, which every use casts.
LogicalGraph lower(const LogicalGraph& logical, const Variants& variants,
                   const FrameworkRules& rules);

}  // namespace opbench
