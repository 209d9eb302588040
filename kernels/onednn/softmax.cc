// oneDNN's softmax as a variant of softmax and its gradient.
#include "kernels/onednn/movement.h"
#include "ops/movement.h"

namespace opbench {
namespace {

dnnl::softmax_forward::primitive_desc forward_desc(const Problem& problem,
                                                   const dnnl::memory::desc& memory) {
  const std::size_t axis =
      axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("dim"));
  return {{dnnl::prop_kind::forward_training, memory, static_cast<int>(axis)}, onednn::engine()};
}

Launch softmax(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::axes_desc(problem.inputs[0]);
  return onednn::launch({{dnnl::softmax_forward(forward_desc(problem, memory)),
                          {{DNNL_ARG_SRC, memory, 0}},
                          {{DNNL_ARG_DST, memory, 0}}}});
}

Launch softmax_grad(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::axes_desc(problem.inputs[0]);
  const std::size_t axis =
      axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("dim"));
  const dnnl::softmax_backward::primitive_desc desc(
      {memory, memory, static_cast<int>(axis)}, onednn::engine(), forward_desc(problem, memory));
  return onednn::launch({{dnnl::softmax_backward(desc),
                          {{DNNL_ARG_DIFF_DST, memory, 0}, {DNNL_ARG_DST, memory, 1}},
                          {{DNNL_ARG_DIFF_SRC, memory, 0}}}});
}

std::string refuse(const Problem& problem) { return onednn::refusal(problem.inputs[0]); }

const RegisteredKernel softmax_kernel{{
    .op = "softmax",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN softmax",
    .refusal = refuse,
    .prepare = softmax,
}};

const RegisteredKernel softmax_grad_kernel{{
    .op = "softmax_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN softmax, backward",
    .refusal = refuse,
    .prepare = softmax_grad,
}};

}  // namespace
}  // namespace opbench
