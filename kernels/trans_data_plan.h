#pragma once

#include <cstdint>
#include <vector>

#include "kernels/copy/strided_copy.h"
#include "kernels/kernel.h"
#include "tensor/element_map.h"
#include "tensor/tensor.h"

namespace opbench {

/// The maps of both sides of a format cast, with the same axes.
struct MapPair {
  ElementMap from, to;
};

/// The maps of both sides. Low ranks expand differently by format; missing axes are added.
MapPair matched_maps(const TensorDesc& from, const TensorDesc& to);

/// Padding that no copy writes, in elements: `count` zeros from first + i * stride on, i < chunks.
struct PaddingGap {
  std::int64_t chunks = 0, stride = 0, first = 0, count = 0;
};

/// A format cast as strided copies of disjoint parts. The copies zero the lanes beyond the last
/// channel. The gap zeros the rows beyond the last and the space between groups; it is written
/// first.
struct TransDataPlan {
  PaddingGap gap;
  std::vector<StridedNest> nests;
};

TransDataPlan plan_trans_data(const TensorDesc& from, const TensorDesc& to);

}  // namespace opbench
