#pragma once

#include <string>
#include <string_view>

#include "ops/op.h"

namespace opbench {

/// The expression with which torch computes the operator (KnownAs::torch) from inputs `x`,
/// attributes `a`, SHAPE and DTYPE. Empty if torch has no such expression.
std::string torch_expression(const Op& op);

/// The name of a dtype in torch and numpy: "float16".
std::string torch_name(DType dtype);

/// Attributes as the items of a Python dictionary: "beta": 1, "threshold": 20.
std::string python_attrs(const Attrs& attrs);

/// A gradient operator as the gradient of another one by torch's autograd.
struct TorchGradient {
  const Op* forward = nullptr;
  GradientCall call;
};

/// The source of an argument for the evaluators of such a gradient: "output_gradient", "input".
std::string_view name_of(GradientArg::Source source);

/// The operator with a torch expression whose gradient `op` computes from its inputs. Null
/// `forward`: none. `problem` must be one of `op`.
TorchGradient torch_gradient(const Problem& problem);

}  // namespace opbench
