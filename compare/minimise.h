#pragma once

#include <cstdint>
#include <functional>

#include "compare/witness.h"

namespace opbench {

/// Reduces a witness: elements, inputs, groups, axes, windows and unused rows, repeatedly until no
/// further reduction is found. Tries the worst place alone first. Once `stop` returns true, the
/// best result so far is kept. Returns the number of tried parts.
std::int64_t minimise(Witness& witness, const JudgeRules& rules, const std::function<bool()>& stop);

}  // namespace opbench
