#pragma once

#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// Attributes of operators that reduce axes.
std::vector<AttrSpec> reduce_attrs();

/// Which axes of `shape` the attributes name: all where the list is empty. Errors: throws Error
/// that names the operator and an axis out of range or named twice.
std::vector<bool> reduced_axes(std::string_view op, const Dims& shape, const Attrs& attrs);

/// The shape of what is left.
Dims reduced_shape(std::string_view op, const Dims& shape, const Attrs& attrs);

/// Elements of `shape` that make one element of the result.
double reduced_count(std::string_view op, const Dims& shape, const Attrs& attrs);

/// For each axis of `shape` how far one step along it goes in the result: 0 along reduced ones.
Dims strides_in_result(const Dims& shape, const std::vector<bool>& reduced);

/// The sums of `x` over the reduced axes, in fp64, elements in their order.
std::vector<double> sums_over(const InputReader& x, const std::vector<bool>& reduced);

/// Of sum_to_size: the axes of `shape` that `size`, aligned at the last axis, lacks or has 1 of.
/// Errors: throws Error that names the operator unless a tensor of `size` can be broadcast to
/// `shape`.
std::vector<bool> summed_axes(std::string_view op, const Dims& shape, const Dims& size);

}  // namespace opbench
