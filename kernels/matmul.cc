// Products of matrices with both factors packed: MatMulV2 and BatchMatMul with the operands of the
// cube unit, and the product of a framework's vendor library in fp32.
#include "kernels/packed_matmul.h"
#include "kernels/simd/cube.h"

namespace opbench {
namespace {

template <LoadFactor kLoad>
Launch prepare(const Problem& problem) {
  return packed_matmul(problem, kLoad);
}

template <LoadFactor kLoad>
std::size_t temporaries(const Problem& problem) {
  return packed_matmul_bytes(problem, kLoad);
}

std::string refuse_fractal(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (input.format == Format::FRACTAL_NZ) return "a framework's product takes plain matrices";
  }
  return {};
}

Kernel native(std::string_view op, std::string_view summary) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = summary,
          .refusal = refuse_fractal,
          .prepare = prepare<load_floats>,
          .temporary_bytes = temporaries<load_floats>};
}

Kernel mat_mul_v2(std::string_view op, std::string_view summary) {
  return {.op = op,
          .name = "mat_mul_v2",
          .provider = Provider::npu,
          .summary = summary,
          .refusal = cube_refusal,
          .prepare = prepare<load_operands>,
          .judged_as = DType::fp16,
          .temporary_bytes = temporaries<load_operands>};
}

const RegisteredKernel kernels[] = {
    RegisteredKernel(
        native("matmul", "fp32 product of packed factors, tiles of 64 rows and columns")),
    RegisteredKernel(native("linear", "fp32 product of packed factors, then the bias")),
    RegisteredKernel(mat_mul_v2(
        "matmul", "MatMulV2, BatchMatMul: fp16 operands, fp32 sums; plain or FRACTAL_NZ")),
    RegisteredKernel(mat_mul_v2(
        "linear", "MatMulV2 with the weight transposed: fp16 operands, fp32 sums and bias")),
};

}  // namespace
}  // namespace opbench
