#pragma once

#include <cstdint>
#include <string>

#include "compare/measure/pair_stats.h"
#include "harness/run/judge_node.h"

namespace opbench {

/// The place that a failed comparison names: of the first NaN or Inf on one side only, else of the
/// worst element; -1: none.
std::int64_t place_of_failure(const PairStats& stats);

/// What the node's inputs hold at element `index` of output `output`: "inputs there: self=88.75,
/// grad=0.5". Empty where an element of the output does not come from those at its own place.
std::string inputs_there(const NodeToJudge& what, std::size_t output, std::int64_t index);

}  // namespace opbench
