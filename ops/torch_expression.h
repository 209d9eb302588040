#pragma once

#include <string>

#include "ops/op.h"

namespace opbench {

/// The expression with which torch computes the operator (KnownAs::torch) from inputs `x`,
/// attributes `a`, SHAPE and DTYPE. Empty if torch has no such expression.
std::string torch_expression(const Op& op);

/// A gradient operator as the gradient of another one by torch's autograd.
struct TorchGradient {
  const Op* forward = nullptr;
  GradientCall call;
};

/// The operator with a torch expression whose gradient `op` computes from its inputs. Null
/// `forward`: none. `problem` must be one of `op`.
TorchGradient torch_gradient(const Problem& problem);

}  // namespace opbench
