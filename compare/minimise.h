#pragma once

#include <cstdint>
#include <functional>

#include "compare/witness.h"

namespace opbench {

/// Cuts a witness down as far as it goes: elements, inputs, groups, axes, windows and rows that are
/// not used, over and over until nothing is left to take. The worst place is tried alone first.
/// Once `stop` is true the best so far stays. Returns the number of parts that were tried.
std::int64_t minimise(Witness& witness, const JudgeRules& rules, const std::function<bool()>& stop);

}  // namespace opbench
