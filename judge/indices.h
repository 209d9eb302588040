#pragma once

#include <span>
#include <vector>

#include "judge/judge_output.h"
#include "ops/op.h"

namespace opbench {

/// True if each index names an element equal to that of `expected`, and no place of a line repeats
/// if the line's places are distinct: only the order of equal elements differs. `values`: the
/// indexed input, or the computed scores, in logical order. `bounds`: the allowed difference from
/// each of them; empty: none. NaN equals NaN. An expected index that names no element, such as that
/// of a finished token, must be equal.
bool name_equal_elements(const IndexedLines& lines, std::span<const double> values,
                         std::span<const double> actual, std::span<const double> expected,
                         std::span<const double> bounds = {});

/// True for an output of indices that differ from the reference but name equal elements, or scores
/// within their error bound of the expected ones (see IndexChoice). Memory: the input and three
/// times the output in fp64.
bool is_right_but_for_ties(const CallToJudge& call, std::size_t output);

/// The inputs of the reference of output `output`. If it follows chosen indices, those of the call
/// are the last one (see IndexChoice).
std::vector<InputReader> inputs_of_reference(const CallToJudge& call, std::size_t output);

}  // namespace opbench
