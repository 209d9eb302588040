#pragma once

#include <span>
#include <string>

#include "ops/op.h"

namespace opbench {

/// What is wrong with the step that output 0 is away from input 0, of an operator that adds a
/// change to it: a step of a small learning rate is below the tolerance of the parameters, and yet
/// all of what the operator does. `storage` holds the output. Empty: it is as long as expected
/// within a tenth and goes the same way, or rounding of the parameters hides it.
std::string wrong_update(const Problem& problem, std::span<const InputReader> inputs,
                         const void* storage);

}  // namespace opbench
