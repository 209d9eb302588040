#pragma once

#include <cstdint>
#include <vector>

#include "kernels/copy/strided_copy.h"
#include "tensor/tensor.h"

namespace opbench {

/// Padding that no copy writes, in elements: `count` zeros from first + i * stride on, i < chunks.
struct PaddingGap {
  std::int64_t chunks = 0, stride = 0, first = 0, count = 0;
};

/// A format cast as strided copies of disjoint parts. Lanes beyond the last channel are zeroed by
/// the copies; rows beyond the last, and what lies between groups, by the gap, to be written first.
struct TransDataPlan {
  PaddingGap gap;
  std::vector<StridedNest> nests;
};

TransDataPlan plan_trans_data(const TensorDesc& from, const TensorDesc& to);

}  // namespace opbench
