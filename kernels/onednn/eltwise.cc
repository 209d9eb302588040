// oneDNN's element-wise primitives as variants of softplus, relu and their gradients.
#include <fmt/format.h>

#include "kernels/onednn/primitive.h"
#include "kernels/softplus.h"

namespace opbench {
namespace {

using dnnl::algorithm;
using onednn::launch;
using onednn::unbound;

dnnl::eltwise_forward::primitive_desc forward_desc(algorithm kind,
                                                   const dnnl::memory::desc& memory) {
  return {{dnnl::prop_kind::forward_training, kind, memory, 0.0f, 0.0f}, onednn::engine()};
}

template <algorithm kAlgorithm>
Launch forward(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  return launch({dnnl::eltwise_forward(forward_desc(kAlgorithm, memory)),
                 {{DNNL_ARG_SRC, unbound(memory)}},
                 {{DNNL_ARG_DST, unbound(memory)}}});
}

// Inputs: output gradient, then the data the primitive differentiates at.
template <algorithm kAlgorithm>
Launch backward(const Problem& problem) {
  onednn::match_threads();
  const auto memory = onednn::memory_desc(problem.inputs[0]);
  const dnnl::eltwise_backward::primitive_desc desc(
      {kAlgorithm, memory, memory, 0.0f, 0.0f}, onednn::engine(), forward_desc(kAlgorithm, memory));
  return launch({dnnl::eltwise_backward(desc),
                 {{DNNL_ARG_DIFF_DST, unbound(memory)}, {DNNL_ARG_SRC, unbound(memory)}},
                 {{DNNL_ARG_DIFF_SRC, unbound(memory)}}});
}

std::string refuse_tensor(const Problem& problem) { return onednn::refusal(problem.inputs[0]); }

std::string refuse_softplus(const Problem& problem) {
  const std::string reason = onednn::refusal(problem.inputs[0]);
  return reason.empty() ? refuse_unless_plain_softplus(problem) : reason;
}

const RegisteredKernel softplus{{
    .op = "softplus",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN eltwise soft_relu",
    .refusal = refuse_softplus,
    .prepare = forward<algorithm::eltwise_soft_relu>,
}};

const RegisteredKernel softplus_grad{{
    .op = "softplus_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN eltwise soft_relu, backward",
    .refusal = refuse_softplus,
    .prepare = backward<algorithm::eltwise_soft_relu>,
}};

const RegisteredKernel relu{{
    .op = "relu",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN eltwise relu",
    .refusal = refuse_tensor,
    .prepare = forward<algorithm::eltwise_relu>,
    .takes = InputRange::finite,  // max(NaN, 0) is 0 there
}};

const RegisteredKernel relu_grad{{
    .op = "relu_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN eltwise relu, backward",
    .refusal = refuse_tensor,
    .prepare = backward<algorithm::eltwise_relu>,
    .takes = InputRange::finite,
}};

}  // namespace
}  // namespace opbench
