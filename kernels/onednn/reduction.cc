// oneDNN's reduction as a variant of bias_grad.
#include "kernels/onednn/movement.h"
#include "ops/channels.h"

namespace opbench {
namespace {

Launch bias_grad(const Problem& problem) {
  onednn::match_threads();
  const ChannelView view = channel_view("bias_grad", "grad_output", problem.inputs[0]);
  const DType dtype = problem.inputs[0].dtype;
  const auto x = onednn::view_desc(dtype, dense_view({view.outer, view.channels, view.inner}));
  const auto sums = onednn::view_desc(dtype, dense_view({1, view.channels, 1}));
  const dnnl::reduction::primitive_desc desc({dnnl::algorithm::reduction_sum, x, sums, 0, 0},
                                             onednn::engine());
  return onednn::launch(
      {{dnnl::reduction(desc), {{DNNL_ARG_SRC, x, 0}}, {{DNNL_ARG_DST, sums, 0}}}});
}

std::string refuse(const Problem& problem) {
  if (is_private(problem.inputs[0].format)) return "oneDNN sums plain tensors here";
  if (channel_view("bias_grad", "grad_output", problem.inputs[0]).count() == 1) {
    return "oneDNN takes no sums of one element";
  }
  return onednn::refusal(problem.inputs[0]);
}

const RegisteredKernel kernel{{
    .op = "bias_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN reduction",
    .refusal = refuse,
    .prepare = bias_grad,
    .sums_by_thread = true,
}};

}  // namespace
}  // namespace opbench
