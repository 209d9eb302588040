#pragma once

#include <string_view>

#include "tensor/shape.h"

namespace opbench {

/// The strided view that `text` makes of a dense tensor of shape `base`: steps joined by dots, each
/// on the result of the one before:
///   transpose(a,b)                        axes a and b swapped
///   permute(a,b,...)                      all axes in a new order
///   slice(axis,start,length[,step])       every step-th element from start
///   select(axis,index)                    axis fixed and removed
///   broadcast(d,d,...)                    extents of 1 and new axes in front repeated
///   as_strided([shape],[strides],offset)  first step only: on the memory of the tensor
/// Errors: throws Error that shows the step and what is allowed, also where the view leaves the
/// tensor's memory.
StridedView parse_view(std::string_view text, const Dims& base);

}  // namespace opbench
