#pragma once

#include "ops/op.h"

namespace opbench {

/// What becomes of the losses of rows or elements.
enum class Reduction { mean, sum, none };

/// "reduction", mean: the attribute of a loss and of its gradient.
AttrSpec reduction_attr();

Reduction reduction_of(const Attrs& attrs);

/// The shape of a loss whose parts have the shape `parts`: that, or a scalar.
Dims reduced_loss(const Attrs& attrs, const Dims& parts);

/// Errors: throws Error that names the operator unless `grad_output` has the shape of a loss whose
/// parts have the shape `parts`.
void require_loss_gradient(std::string_view op, const TensorDesc& grad_output, const Attrs& attrs,
                           const Dims& parts);

}  // namespace opbench
