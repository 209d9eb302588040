#pragma once

#include <cstdint>
#include <string>

#include "judge/judge_output.h"

namespace opbench {

/// What the inputs of a call hold at element `index` of output `output`: "inputs there: self=88.75,
/// grad=0.5". Empty where an element of the output does not come from those at its own place.
std::string inputs_there(const CallToJudge& what, std::size_t output, std::int64_t index);

}  // namespace opbench
