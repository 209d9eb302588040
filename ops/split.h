#pragma once

#include "ops/op.h"

namespace opbench {

/// Extents of the parts of a split of `shape`: attribute `sizes`, or where it is empty `chunks`
/// parts as torch.chunk cuts them: all as large as the first but the last, and fewer parts where
/// that reaches the end. Errors: throws Error unless they add up to the extent of the axis.
std::vector<std::int64_t> split_sizes(const Dims& shape, const Attrs& attrs);

/// The calls that make dense the parts of `whole`, a tensor of `shape`, which extents `sizes` of
/// `axis` hold: part i is output i.
std::vector<ComposedCall> dense_parts(const ComposedArg& whole, const Dims& shape,
                                      const std::vector<std::int64_t>& sizes, std::int64_t axis);

}  // namespace opbench
