#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// One pass over all elements of an operator on integers or bool, inputs broadcast: plain loops in
/// the dtype, modulo 2^bits. Errors: throws std::logic_error if no loop has the operator's name.
Launch integer_launch(const Problem& problem);

/// Numbers that the vector unit of an NPU adds, subtracts, multiplies and compares; operators on
/// other integers cast, or run on AICPU.
inline const std::vector<DType> kVectorUnitDTypes = {DType::fp32, DType::fp16, DType::bf16,
                                                     DType::int32};

}  // namespace opbench
