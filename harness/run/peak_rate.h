#pragma once

#include "tensor/dtype.h"

namespace opbench {

/// Operations per second that so many threads reach at most where nothing is loaded or stored:
/// fused multiply-adds in registers, 2 operations each, as measured once in this process. fp16 and
/// bf16 are computed in fp32. 0 for dtypes without a fraction, and if interrupted.
double peak_operations_per_second(DType dtype, int threads);

}  // namespace opbench
