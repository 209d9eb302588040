#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// Attributes of operators that reduce axes.
std::vector<AttrSpec> reduce_attrs();

/// The axes of `shape` that the attributes name; all if the list is empty. Errors: throws Error
/// that names the operator and an axis out of range or named twice.
std::vector<bool> reduced_axes(std::string_view op, const Dims& shape, const Attrs& attrs);

/// The shape of the result.
Dims reduced_shape(std::string_view op, const Dims& shape, const Attrs& attrs);

/// Elements of `shape` that make one element of the result.
double reduced_count(std::string_view op, const Dims& shape, const Attrs& attrs);

/// The step in the result for one step along each axis of `shape`: 0 along reduced axes.
Dims strides_in_result(const Dims& shape, const std::vector<bool>& reduced);

/// The place of an element in the result. `strides` are those of its own tensor, `to` those in the
/// result.
std::int64_t place_in_result(std::int64_t element, const Dims& strides, const Dims& to);

/// For each element of the result, `first` joined with the elements over the reduced axes, in
/// order, in fp64.
std::vector<double> joined_over(const InputReader& x, const std::vector<bool>& reduced,
                                double first,
                                const std::function<double(double joined, double x)>& join);

/// The sums of `of(x)`, or of `x` without `of`, over the reduced axes, in fp64, with the elements
/// in order.
std::vector<double> sums_over(const InputReader& x, const std::vector<bool>& reduced,
                              const std::function<double(double)>& of = nullptr);

/// The axes that sum_to_size reduces: `size`, aligned at the last axis, lacks them or has an extent
/// of 1. Errors: throws Error that names the operator unless a tensor of `size` can be broadcast to
/// `shape`.
std::vector<bool> summed_axes(std::string_view op, const Dims& shape, const Dims& size);

/// The sum of all elements, blocks added in order; 0 for an empty tensor.
double sum_of(const InputReader& x);

/// A reference with one value for all elements.
Reference constant_reference(double value);

/// A scalar of the input's dtype.
std::vector<TensorDesc> infer_scalar(std::span<const TensorDesc> inputs, const Attrs& attrs);

/// The shape rule of a gradient that spreads a scalar over `self`: inputs 'grad_output' and 'self',
/// the output like `self`. Errors: throws Error that names the operator unless 'grad_output' is a
/// scalar of the same dtype.
std::vector<TensorDesc> infer_expanded(std::string_view op, std::span<const TensorDesc> inputs);

/// `self` provides its shape only; its elements are not read.
Traffic expanded_traffic(const Problem& problem);

/// A scalar, and a tensor of the given shape.
std::vector<Dims> scalar_and_tensor(const Dims& shape, const Attrs& attrs);

/// The reduction of the losses of rows or elements.
enum class Reduction { mean, sum, none };

/// Attribute "reduction", default mean, of a loss and of its gradient.
AttrSpec reduction_attr();

Reduction reduction_of(const Attrs& attrs);

/// The shape of a loss with parts of shape `parts`: that shape, or a scalar.
Dims reduced_loss(const Attrs& attrs, const Dims& parts);

/// Errors: throws Error that names the operator unless `grad_output` has the shape of a loss with
/// parts of shape `parts`.
void require_loss_gradient(std::string_view op, const TensorDesc& grad_output, const Attrs& attrs,
                           const Dims& parts);

}  // namespace opbench
