// oneDNN's matmul as a variant of matmul and linear.
#include "ops/matmul.h"

#include "kernels/onednn/movement.h"

namespace opbench {
namespace {

// [batch, rows, columns], possibly stored with the last two exchanged.
dnnl::memory::desc matrices(DType dtype, std::int64_t batch, std::int64_t rows,
                            std::int64_t columns, bool is_transposed) {
  const dnnl::memory::dims strides = {rows * columns, is_transposed ? 1 : columns,
                                      is_transposed ? rows : 1};
  return onednn::view_desc(dtype, {{batch, rows, columns}, strides, 0});
}

Launch prepare(const Problem& problem) {
  onednn::match_threads();
  const MatMulShape s = matmul_shape(problem);
  const DType dtype = problem.inputs[0].dtype;
  const auto a = matrices(dtype, s.batch, s.m, s.k, s.transpose_a);
  const auto b = matrices(dtype, s.batch, s.k, s.n, s.transpose_b);
  const auto c = matrices(dtype, s.batch, s.m, s.n, false);
  if (problem.inputs.size() < 3) {
    return onednn::launch({{dnnl::matmul({{a, b, c}, onednn::engine()}),
                            {{DNNL_ARG_SRC, a, 0}, {DNNL_ARG_WEIGHTS, b, 1}},
                            {{DNNL_ARG_DST, c, 0}}}});
  }
  const auto bias = matrices(dtype, 1, 1, s.n, false);
  return onednn::launch(
      {{dnnl::matmul({{a, b, bias, c}, onednn::engine()}),
        {{DNNL_ARG_SRC, a, 0}, {DNNL_ARG_WEIGHTS, b, 1}, {DNNL_ARG_BIAS, bias, 2}},
        {{DNNL_ARG_DST, c, 0}}}});
}

std::string refuse(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (const std::string reason = onednn::refusal(input); !reason.empty()) return reason;
    if (input.format == Format::FRACTAL_NZ) return "oneDNN multiplies plain matrices here";
  }
  return {};
}

const RegisteredKernel matmul{{
    .op = "matmul",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul, transposed by strides",
    .refusal = refuse,
    .prepare = prepare,
    .sums_by_thread = true,
}};

const RegisteredKernel linear{{
    .op = "linear",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul with bias; the weight as it is stored, transposed by strides",
    .refusal = refuse,
    .prepare = prepare,
    .sums_by_thread = true,
}};

}  // namespace
}  // namespace opbench
