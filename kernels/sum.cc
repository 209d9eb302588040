#include "kernels/reduce_all.h"

namespace opbench {
namespace {

Launch prepare(const Problem& problem) { return reduce_all(problem, 1.0f, 1); }

const RegisteredKernel native{{
    .op = "sum",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sum in fp32, rounded to the tensor's dtype once",
    .prepare = prepare,
}};

// Ascend 910 also widens fp16 before the sum.
const RegisteredKernel reduce_sum{{
    .op = "sum",
    .name = "reduce_sum_d",
    .provider = Provider::npu,
    .summary = "ReduceSumD: fp16 and bf16 cast to fp32 first, sum in fp32",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
