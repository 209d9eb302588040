#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The sum of all elements, blocks added in order; 0 for an empty tensor.
double sum_of(const InputReader& x);

/// The same golden value wherever it is asked for.
Reference constant_reference(double value);

/// A scalar of the input's dtype.
std::vector<TensorDesc> infer_scalar(std::span<const TensorDesc> inputs, const Attrs& attrs);

/// Of a gradient that spreads a scalar over `self`: inputs 'grad_output' and 'self', the output
/// like `self`. Errors: throws Error that names the operator unless 'grad_output' is a scalar of
/// the same dtype.
std::vector<TensorDesc> infer_expanded(std::string_view op, std::span<const TensorDesc> inputs);

/// `self` gives its shape only; its elements are not read.
Traffic expanded_traffic(const Problem& problem);

/// A scalar, and a tensor of the shape that is given.
std::vector<Dims> scalar_and_tensor(const Dims& shape, const Attrs& attrs);

}  // namespace opbench
