#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/plan/context_graph.h"
#include "harness/spec/context.h"
#include "harness/spec/lowered_forms.h"

namespace opbench {

/// Kernels by operator, in the order in which they are tried.
using Variants = std::map<std::string, std::vector<std::string>>;

/// Writes the operators that stand for several of the framework's as those, so that formats are
/// planned between them: the joining and shuffling of channels and its backward pass in the form
/// that `variants` names for the operator, and chunk.
///
///   cat_shuffle[_split]       native: concat, channel_shuffle, and a copy of each half
///                             full: concat, index_select, and a copy of each half
///                             half: concat, and an index_select for each half
///   cat_shuffle[_split]_grad  native: concat, channel_shuffle back, a copy of each half
///                             index_add: concat, index_add to zeros, a copy of each half
///                             full, half: concat, and an index_select for each half
///   split                     native: a copy of each part
///
/// Any other variant (`fused`) is an operator of its own and stays. Where a gradient's operator has
/// no variant stated it takes that of the operator it belongs to. Indices are constants of int32,
/// or with `index: generated` of int64, which every use casts.
LogicalGraph lower(const LogicalGraph& logical, const Variants& variants,
                   const FrameworkRules& rules);

}  // namespace opbench
