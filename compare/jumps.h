#pragma once

#include <cstddef>
#include <optional>

#include "compare/comparison.h"

namespace opbench {

/// Finds the operators whose outputs are much further off than is usual in this pair of dumps.
///
/// Two devices of different arithmetic differ everywhere and more so with every layer, so that
/// being off says little; being further off than one's inputs and neighbours does. Errors are sums
/// of |actual - expected| over sums of |expected|: an element on the other side of a kink counts no
/// more than its error. The usual error of an operator is the largest of: that of its inputs
/// (see condition), the medians of the outputs before it in order of execution, of all operators
/// and of those with its name, and what rounding alone gives, of its terms if it adds up many. Its
/// jump is its error over the usual one, and over the growth from inputs to outputs that nine
/// tenths of its kind stay below. Where the root mean square of the error does not grow (see
/// OperatorResult::amplification), the operator has only spread what came in, and its jump is no
/// more than that growth. Operators that draw random numbers have none.
void find_jumps(Comparison& comparison);

/// A jump from here on stands out. Healthy pairs stay below 3.2, mistakes are above 4.8
/// (tests/compare/planted).
inline constexpr double kJump = 4;

/// The first operator, in order of execution, that stands out: later ones inherit.
std::optional<std::size_t> first_jump(const Comparison& comparison);

/// Do most fp32 products differ as those of fp16 operands do, by a relative error from 2^-14 to
/// 2^-10?
bool has_fp16_operands(const Comparison& comparison);

}  // namespace opbench
