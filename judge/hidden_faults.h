#pragma once

#include <cstdint>
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

/// Rounded to nearest, errors are between -1/2 and 1/2 of a unit and lean to no side: their mean is
/// below kLeaning. A factor that was itself rounded makes them lean, too, but not the share
/// kOneSided of them.
inline constexpr double kLeaning = 0.35, kOneSided = 0.97;
inline constexpr std::int64_t kFewestRounded = 32;  ///< elements from which it can be told

/// Results in fp16 or bf16 that are right to a unit in the last place, but lean to one side:
/// "rounds towards zero: 0.49 units on average, over 4096 elements". Empty where they do not, and
/// where that cannot be told: few elements, wider dtypes, other errors. Looks at some 100,000
/// elements.
std::string rounding_bias(const Problem& problem, std::span<const InputReader> inputs,
                          std::size_t output, const void* storage);

}  // namespace opbench
