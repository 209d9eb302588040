#pragma once

#include <cstdint>
#include <string>

#include "harness/run/judge_node.h"

namespace opbench {

/// What the node's inputs hold at element `index` of output `output`: "inputs there: self=88.75,
/// grad=0.5". Empty where an element of the output does not come from those at its own place.
std::string inputs_there(const NodeToJudge& what, std::size_t output, std::int64_t index);

}  // namespace opbench
