#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace opbench {

/// Attributes of an operator by the names that the operator table looks for: numbers, lists, truth
/// values as 0 and 1.
using NamedNumbers = std::map<std::string, std::vector<double>, std::less<>>;

/// The numbers among logged attributes, "{data_format = NCHW, groups = 1, strides = [1, 1, 2, 2]}",
/// as frameworks state them: of strides, dilations and ksize the two of the plane, of pads those
/// above and to the left, where they are the same on both sides (else all four). Words are left
/// out.
NamedNumbers attrs_of_log(std::string_view op, std::string_view logged);

/// "strides=[2,2] pads=[1,1]"
std::string to_string(const NamedNumbers& attrs);

/// Attributes under which an operator of ours, `op`, may make tensors of shapes `outputs` from
/// `inputs`, the likeliest first: which of them does, the operator says. Empty where nothing is
/// known of it.
std::vector<NamedNumbers> likely_attrs(std::string_view op, const std::vector<Dims>& inputs,
                                       const std::vector<Dims>& outputs);

/// `y` with extents of 1 where axes of `x` were summed up and left out, as far as that is clear;
/// else `y`. [4, 6] of [4, 5, 6] is [4, 1, 6].
Dims with_reduced_axes(const Dims& x, const Dims& y);

}  // namespace opbench
