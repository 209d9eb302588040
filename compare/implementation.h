#pragma once

#include <string>

#include "compare/judge_call.h"

namespace opbench {

/// Which variant leaves what was recorded: "equals softplus_v2 bit for bit", where others do not;
/// of several, all of them. Else the one that is by far nearest: "nearest to softplus (99.8 %
/// equal), native has 61.2 %". Empty where nothing tells them apart, or none can be computed here.
/// Runs all variants that take the problem, each in a format that it takes. Memory: the call's
/// tensors once more, in that format, and what a variant needs.
std::string implementation_of(const LoadedCall& loaded, int threads);

}  // namespace opbench
