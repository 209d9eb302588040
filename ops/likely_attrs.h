#pragma once

#include <map>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace opbench {

/// Attributes of an operator with the names in the operator table: numbers, lists, truth values as
/// 0 and 1.
using NamedNumbers = std::map<std::string, std::vector<double>, std::less<>>;

using LikelyAttrs = std::vector<NamedNumbers>;
using Shapes = std::vector<Dims>;

// Attributes that may give outputs of these shapes for inputs of these shapes, the likeliest first;
// the operator's shape rule selects among them. `inputs` has all required inputs and `outputs` at
// least one shape.
LikelyAttrs likely_of_conv2d(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_conv2d_grad_input(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_conv2d_grad_weight(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_pool(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_transpose(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_matmul(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_mean(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_topk(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_max(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_axes(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_loss(const Shapes& inputs, const Shapes& outputs);
LikelyAttrs likely_of_loss_grad(const Shapes& inputs, const Shapes& outputs);

/// `y` with extents of 1 for the axes of `x` that were reduced and dropped, if they can be
/// determined; else `y`. [4, 6] of [4, 5, 6] is [4, 1, 6].
Dims with_reduced_axes(const Dims& x, const Dims& y);

}  // namespace opbench
