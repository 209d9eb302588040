#pragma once

#include "judge/pair_stats.h"
#include "judge/standard.h"
#include "tensor/dtype.h"
#include "tensor/elements.h"

namespace opbench {

/// The same elements of two tensors in memory, dense and in logical order.
struct ValuePair {
  DType actual_dtype, expected_dtype;
  const void* actual;    ///< the element range.first
  const void* expected;  ///< the element range.first
  ElementRange range;    ///< of the tensors; names the places of errors
};

/// Measures how far they are apart, min_tolerance included, in this thread. Parts of a tensor may
/// be measured in any order; merged in theirs they give the same bits.
/// A tolerance that follows the scale takes it from `scale`, that of the whole tensor.
PairStats measure_values(const ValuePair& values, const Tolerance& tolerance, double scale = 1);

/// The scale of `count` values that lie densely in memory; see Magnitudes.
double scale_of(DType dtype, const void* values, std::int64_t count);

}  // namespace opbench
