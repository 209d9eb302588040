#pragma once

#include <span>

#include "judge/judge_output.h"
#include "ops/op.h"

namespace opbench {

/// True if each index names an element equal to that of `expected`, and no place of a line repeats
/// if the line's places are distinct: only the order of equal elements differs. `values`: the
/// indexed input in logical order. NaN equals NaN.
bool name_equal_elements(const IndexedLines& lines, std::span<const double> values,
                         std::span<const double> actual, std::span<const double> expected);

/// True for an output of indices that differ from the reference but name equal elements. Memory:
/// the input and three times the output in fp64.
bool is_right_but_for_ties(const CallToJudge& call, std::size_t output);

}  // namespace opbench
