#pragma once

#include "tensor/dtype.h"
#include "tensor/half.h"

namespace opbench {

/// Calls `body` with a value of the C++ type that stores `dtype`; fp32, fp16 and bf16.
template <class Body>
void visit_arithmetic(DType dtype, Body&& body) {
  if (dtype == DType::fp16) return body(half{});
  if (dtype == DType::bf16) return body(bfloat16{});
  body(float{});
}

}  // namespace opbench
