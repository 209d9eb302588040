#pragma once

#include <span>

#include "judge/judge_output.h"
#include "ops/op.h"

namespace opbench {

/// True if indices name elements that are equal to those which `expected` names, and no place twice
/// where a line's places are distinct: they are right but for the order among equals. `values`: the
/// indexed input in logical order. NaN equals NaN.
bool name_equal_elements(const IndexedLines& lines, std::span<const double> values,
                         std::span<const double> actual, std::span<const double> expected);

/// True of an output of indices that name other elements than the reference does, but equal ones.
/// Memory: the input and three times the output in fp64.
bool is_right_but_for_ties(const CallToJudge& call, std::size_t output);

}  // namespace opbench
