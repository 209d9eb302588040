#pragma once

#include <cstdint>
#include <vector>

#include "kernels/copy/strided_copy.h"
#include "kernels/kernel.h"
#include "tensor/element_map.h"
#include "tensor/tensor.h"

namespace opbench {

/// Where both sides of a format cast keep the same elements: maps with the same axes.
struct MapPair {
  ElementMap from, to;
};

/// Low ranks expand differently by format; the axes are made the same.
MapPair matched_maps(const TensorDesc& from, const TensorDesc& to);

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
