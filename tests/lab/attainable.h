#pragma once

#include <vector>

#include "tests/lab/mutations.h"

namespace opbench {

/// True if no tolerance can distinguish these results from those of the correct kernel. The
/// distance of each element from the exact result is at most the sum of
/// - its change if every element of the inputs moves by one unit in the last place of the dtype
/// that
///   the kernel is judged by, in the worst of 16 random ways (rounding cannot distinguish these
///   inputs from the given ones),
/// - one unit in the last place of the result,
/// - the largest error of the correct kernel in this tensor.
bool is_attainable(const HonestRun& run, const std::vector<Elements>& results);

}  // namespace opbench
