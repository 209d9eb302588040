// oneDNN's element-wise primitives as variants of unary operators and their gradients.
#include "kernels/onednn/primitive.h"
#include "kernels/softplus.h"

namespace opbench {
namespace {

using dnnl::algorithm;

/// The two parameters of a primitive.
struct Parameters {
  float alpha = 0, beta = 0;
};

// For clamp the parameters are the bounds; other operators here have no parameters.
Parameters parameters_of(const Problem& problem) {
  if (!problem.attrs.values().contains("max")) return {};
  return {static_cast<float>(problem.attrs.number("min")),
          static_cast<float>(problem.attrs.number("max"))};
}

dnnl::eltwise_forward::primitive_desc forward_desc(algorithm kind, const Problem& problem) {
  const auto [alpha, beta] = parameters_of(problem);
  return {{dnnl::prop_kind::forward_training, kind, onednn::memory_desc(problem.inputs[0]), alpha,
           beta},
          onednn::engine()};
}

Launch prepare_forward(algorithm kind, const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  return onednn::launch({{dnnl::eltwise_forward(forward_desc(kind, problem)),
                          {{DNNL_ARG_SRC, memory, 0}},
                          {{DNNL_ARG_DST, memory, 0}}}});
}

template <algorithm kAlgorithm>
Launch forward(const Problem& problem) {
  return prepare_forward(kAlgorithm, problem);
}

// Inputs: the output gradient, then the tensor at which the primitive differentiates: `saved` is
// DNNL_ARG_SRC or _DST.
Launch prepare_backward(algorithm kind, int saved, const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  const auto [alpha, beta] = parameters_of(problem);
  const dnnl::eltwise_backward::primitive_desc desc({kind, memory, memory, alpha, beta},
                                                    onednn::engine(), forward_desc(kind, problem));
  return onednn::launch({{dnnl::eltwise_backward(desc),
                          {{DNNL_ARG_DIFF_DST, memory, 0}, {saved, memory, 1}},
                          {{DNNL_ARG_DIFF_SRC, memory, 0}}}});
}

template <algorithm kAlgorithm>
Launch backward(const Problem& problem) {
  return prepare_backward(kAlgorithm, DNNL_ARG_SRC, problem);
}
template <algorithm kAlgorithm>
Launch backward_from_result(const Problem& problem) {
  return prepare_backward(kAlgorithm, DNNL_ARG_DST, problem);
}

template <algorithm kByErf, algorithm kByTanh, Launch (*kPrepare)(algorithm, const Problem&)>
Launch gelu(const Problem& problem) {
  return kPrepare(problem.attrs.word("approximate") == "tanh" ? kByTanh : kByErf, problem);
}

Launch prepare_backward_from_input(algorithm kind, const Problem& problem) {
  return prepare_backward(kind, DNNL_ARG_SRC, problem);
}

std::string refuse_tensor(const Problem& problem) { return onednn::refusal(problem.inputs[0]); }

std::string refuse_softplus(const Problem& problem) {
  const std::string reason = onednn::refusal(problem.inputs[0]);
  return reason.empty() ? refuse_unless_plain_softplus(problem) : reason;
}

std::string refuse_clamp(const Problem& problem) {
  const auto [min, max] = parameters_of(problem);
  return min <= max ? onednn::refusal(problem.inputs[0]) : "oneDNN takes no min above max";
}

// NaN and Inf are not checked for these: max(NaN, 0) is 0 there.
template <Launch (*kPrepare)(const Problem& problem)>
Kernel eltwise(std::string_view op, std::string_view summary) {
  return {.op = op,
          .name = "onednn",
          .provider = Provider::vendor,
          .summary = summary,
          .refusal = refuse_tensor,
          .prepare = kPrepare,
          .note = onednn::note_of<kPrepare>,
          .takes = InputRange::finite};
}

Kernel clamp() {
  Kernel kernel = eltwise<forward<algorithm::eltwise_clip_v2>>("clamp", "oneDNN eltwise clip_v2");
  kernel.refusal = refuse_clamp;
  return kernel;
}

const RegisteredKernel softplus{{
    .op = "softplus",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN eltwise soft_relu",
    .refusal = refuse_softplus,
    .prepare = forward<algorithm::eltwise_soft_relu>,
    .note = onednn::note_of<forward<algorithm::eltwise_soft_relu>>,
#ifdef __aarch64__
    .takes = InputRange::finite,  // with SVE of 512 bits, NaN becomes 88.7 (oneDNN 2.6)
#endif
}};

const RegisteredKernel softplus_grad{{
    .op = "softplus_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN eltwise soft_relu, backward",
    .refusal = refuse_softplus,
    .prepare = backward<algorithm::eltwise_soft_relu>,
    .note = onednn::note_of<backward<algorithm::eltwise_soft_relu>>,
#ifdef __aarch64__
    .takes = InputRange::finite,  // at NaN the derivative is 0 there (oneDNN 2.6)
#endif
}};

const RegisteredKernel kKernels[] = {
    RegisteredKernel(eltwise<forward<algorithm::eltwise_relu>>("relu", "oneDNN eltwise relu")),
    RegisteredKernel(
        eltwise<backward<algorithm::eltwise_relu>>("relu_grad", "oneDNN eltwise relu, backward")),
    RegisteredKernel(eltwise<forward<algorithm::eltwise_abs>>("abs", "oneDNN eltwise abs")),
    RegisteredKernel(eltwise<forward<algorithm::eltwise_exp>>("exp", "oneDNN eltwise exp")),
    RegisteredKernel(eltwise<forward<algorithm::eltwise_log>>("log", "oneDNN eltwise log")),
    RegisteredKernel(eltwise<forward<algorithm::eltwise_sqrt>>("sqrt", "oneDNN eltwise sqrt")),
    RegisteredKernel(clamp()),
    RegisteredKernel(eltwise<forward<algorithm::eltwise_tanh>>("tanh", "oneDNN eltwise tanh")),
    RegisteredKernel(eltwise<backward_from_result<algorithm::eltwise_tanh_use_dst_for_bwd>>(
        "tanh_grad", "oneDNN eltwise tanh, backward from the result")),
    RegisteredKernel(
        eltwise<forward<algorithm::eltwise_logistic>>("sigmoid", "oneDNN eltwise logistic")),
    RegisteredKernel(eltwise<backward_from_result<algorithm::eltwise_logistic_use_dst_for_bwd>>(
        "sigmoid_grad", "oneDNN eltwise logistic, backward from the result")),
    RegisteredKernel(
        eltwise<gelu<algorithm::eltwise_gelu_erf, algorithm::eltwise_gelu_tanh, prepare_forward>>(
            "gelu", "oneDNN eltwise gelu_erf, gelu_tanh")),
    RegisteredKernel(eltwise<gelu<algorithm::eltwise_gelu_erf, algorithm::eltwise_gelu_tanh,
                                  prepare_backward_from_input>>(
        "gelu_grad", "oneDNN eltwise gelu_erf, gelu_tanh, backward")),
};

}  // namespace
}  // namespace opbench
