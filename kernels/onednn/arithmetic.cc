// oneDNN's binary, sum and linear primitives as variants of add, mul, axpy and muls.
#include "kernels/onednn/primitive.h"

namespace opbench {
namespace {

using dnnl::algorithm;

template <algorithm kAlgorithm>
Launch prepare_binary(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  const dnnl::binary::primitive_desc desc({kAlgorithm, memory, memory, memory}, onednn::engine());
  return onednn::launch({{dnnl::binary(desc),
                          {{DNNL_ARG_SRC_0, memory, 0}, {DNNL_ARG_SRC_1, memory, 1}},
                          {{DNNL_ARG_DST, memory, 0}}}});
}

Launch prepare_axpy(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  const auto alpha = static_cast<float>(problem.attrs.number("alpha"));
  const dnnl::sum::primitive_desc desc(memory, {1.0f, alpha}, {memory, memory}, onednn::engine());
  return onednn::launch(
      {{dnnl::sum(desc),
        {{DNNL_ARG_MULTIPLE_SRC, memory, 0}, {DNNL_ARG_MULTIPLE_SRC + 1, memory, 1}},
        {{DNNL_ARG_DST, memory, 0}}}});
}

Launch prepare_muls(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  const auto value = static_cast<float>(problem.attrs.number("value"));
  const dnnl::eltwise_forward::primitive_desc desc(
      {dnnl::prop_kind::forward_inference, algorithm::eltwise_linear, memory, value, 0.0f},
      onednn::engine());
  return onednn::launch(
      {{dnnl::eltwise_forward(desc), {{DNNL_ARG_SRC, memory, 0}}, {{DNNL_ARG_DST, memory, 0}}}});
}

std::string refuse_tensor(const Problem& problem) { return onednn::refusal(problem.inputs[0]); }

const RegisteredKernel add{{
    .op = "add",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN binary add",
    .refusal = refuse_tensor,
    .prepare = prepare_binary<algorithm::binary_add>,
}};

const RegisteredKernel mul{{
    .op = "mul",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN binary mul",
    .refusal = refuse_tensor,
    .prepare = prepare_binary<algorithm::binary_mul>,
}};

const RegisteredKernel axpy{{
    .op = "axpy",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN sum with scales 1 and alpha; in fp32 its plain implementation (simple:any), "
               "no yardstick",
    .refusal = refuse_tensor,
    .prepare = prepare_axpy,
}};

const RegisteredKernel muls{{
    .op = "muls",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN eltwise linear",
    .refusal = refuse_tensor,
    .prepare = prepare_muls,
}};

}  // namespace
}  // namespace opbench
