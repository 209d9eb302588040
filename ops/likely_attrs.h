#pragma once

#include <map>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace opbench {

/// Attributes of an operator by the names that the operator table looks for: numbers, lists, truth
/// values as 0 and 1.
using NamedNumbers = std::map<std::string, std::vector<double>, std::less<>>;

using LikelyAttrs = std::vector<NamedNumbers>;
using Shapes = std::vector<Dims>;

// Attributes under which an operator may make outputs of these shapes from inputs of these, the
// likeliest first: which of them does, the operator says. There are as many shapes as the
// operator has inputs that it needs, and one output at least.
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

/// `y` with extents of 1 where axes of `x` were summed up and left out, as far as that is clear;
/// else `y`. [4, 6] of [4, 5, 6] is [4, 1, 6].
Dims with_reduced_axes(const Dims& x, const Dims& y);

}  // namespace opbench
