#pragma once

#include <vector>

#include "tests/lab/mutations.h"

namespace opbench {

/// True if no tolerance can tell these results from those of the honest kernel: each element is no
/// further from the exact result than the sum of
/// - what that moves by when every element of the inputs moves by one unit in the last place of the
///   dtype that the kernel is judged by, in the worst of 16 random ways (those inputs exist, and
///   rounding does not tell them from the given ones),
/// - one unit in the last place of the result,
/// - the largest error of the honest kernel in this tensor.
bool is_attainable(const HonestRun& run, const std::vector<Elements>& results);

}  // namespace opbench
