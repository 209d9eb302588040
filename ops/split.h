#pragma once

#include "ops/op.h"

namespace opbench {

/// Extents of the parts of a split of `shape`: attribute `sizes`, or where it is empty `chunks`
/// parts as torch.chunk cuts them: all as large as the first but the last, and fewer parts where
/// that reaches the end. Errors: throws Error unless they add up to the extent of the axis.
std::vector<std::int64_t> split_sizes(const Dims& shape, const Attrs& attrs);

}  // namespace opbench
