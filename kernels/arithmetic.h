#pragma once

#include "kernels/kernel.h"

namespace opbench {

// The small operators that a framework composes others of. Each of them is a separate call on all
// threads: one pass over memory with plain stores and a result rounded to `dtype`. y may be an
// input.
void pass_add(DType dtype, std::int64_t count, const void* a, const void* b, void* y);
void pass_muls(DType dtype, std::int64_t count, const void* x, float value, void* y);

/// `value` after rounding to a scalar of `dtype`.
float rounded_to(DType dtype, float value);

/// Empty unless a scalar of `dtype` cannot hold `value`: "alpha = 1e+06 is inf as fp16".
std::string refuse_lost_scalar(std::string_view name, float value, DType dtype);

}  // namespace opbench
