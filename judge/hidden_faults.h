#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ops/op.h"

namespace opbench {

/// The fault of an update, which is the difference of output 0 and input 0. A step with a small
/// learning rate is below the tolerance of the parameters, although it is the whole effect of the
/// operator. `storage` is that of the output. Empty if the length is within a tenth of the expected
/// length and the direction is the same, or if the rounding of the parameters hides the step.
std::string wrong_update(const Problem& problem, std::span<const InputReader> inputs,
                         const void* storage);

/// Errors of rounding to nearest are between -1/2 and 1/2 unit and lean to no side: their mean is
/// below kLeaning. A factor that was itself rounded can make them lean too, but not the share
/// kOneSided of them.
inline constexpr double kLeaning = 0.35, kOneSided = 0.97;
inline constexpr std::int64_t kFewestRounded = 32;  ///< elements from which it can be told

/// Finds fp16 or bf16 results that are right to a unit in the last place, but lean to one side:
/// "rounds towards zero: 0.49 units on average, over 4096 elements". Empty if they do not lean, or
/// if that is not measurable: few elements, wider dtypes, other errors. Uses about 100,000
/// elements.
std::string rounding_bias(const Problem& problem, std::span<const InputReader> inputs,
                          std::size_t output, const void* storage);

}  // namespace opbench
