// MatMulV2 and BatchMatMul: operands packed as the cube unit takes them.
#include "kernels/packed_matmul.h"
#include "kernels/simd/cube.h"

namespace opbench {
namespace {

Launch prepare(const Problem& problem) { return packed_matmul(problem, load_operands); }

std::size_t temporaries(const Problem& problem) {
  return packed_matmul_bytes(problem, load_operands);
}

const RegisteredKernel matmul{{
    .op = "matmul",
    .name = "mat_mul_v2",
    .provider = Provider::npu,
    .summary = "MatMulV2, BatchMatMul: fp16 operands, fp32 sums; plain or FRACTAL_NZ",
    .refusal = cube_refusal,
    .prepare = prepare,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries,
}};

const RegisteredKernel linear{{
    .op = "linear",
    .name = "mat_mul_v2",
    .provider = Provider::npu,
    .summary = "MatMulV2 with the weight transposed: fp16 operands, fp32 sums and bias",
    .refusal = cube_refusal,
    .prepare = prepare,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries,
}};

}  // namespace
}  // namespace opbench
