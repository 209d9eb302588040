#pragma once

#include "kernels/kernel.h"
#include "tensor/element_map.h"

namespace opbench {

/// Where both sides of a format cast keep the same elements: maps with the same axes.
struct MapPair {
  ElementMap from, to;
};

/// Low ranks expand differently by format; the axes are made the same.
MapPair matched_maps(const TensorDesc& from, const TensorDesc& to);

}  // namespace opbench
