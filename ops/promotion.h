#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The dtype to which PyTorch promotes two floating dtypes: the wider one, fp32 for fp16 and bf16.
DType promoted(DType a, DType b);

/// That of all inputs: an operator without own dtypes that promotes them.
DType promoted(std::span<const TensorDesc> inputs);

/// True if inputs that follow the case's dtype have different ones.
bool has_mixed_dtypes(const Op& op, std::span<const TensorDesc> inputs);

}  // namespace opbench
