// The columns of a matrix summed up by oneDNN as a product with ones, as a variant of bias_grad:
// its reduction primitive has reference code only for sums that keep the last axis.
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/onednn/movement.h"
#include "ops/channels.h"

namespace opbench {
namespace {

struct ProductWithOnes {
  std::vector<float> ones;
  dnnl::memory row, x, sums;
  dnnl::matmul product;

  void run(const KernelArgs& args) {
    onednn::match_threads();
    x.set_data_handle(const_cast<void*>(args.inputs[0]));
    sums.set_data_handle(args.outputs[0]);
    product.execute(onednn::stream(),
                    {{DNNL_ARG_SRC, row}, {DNNL_ARG_WEIGHTS, x}, {DNNL_ARG_DST, sums}});
    onednn::stream().wait();
  }
};

Launch bias_grad(const Problem& problem) {
  onednn::match_threads();
  const ChannelView view = channel_view("bias_grad", "grad_output", problem.inputs[0]);
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return onednn::view_desc(DType::fp32, dense_view({rows, columns}));
  };
  const auto row = matrix(1, view.outer), x = matrix(view.outer, view.channels),
             sums = matrix(1, view.channels);
  const auto plan = std::make_shared<ProductWithOnes>();
  plan->ones.assign(static_cast<std::size_t>(view.outer), 1.0f);
  plan->row = dnnl::memory(row, onednn::engine(), plan->ones.data());
  plan->x = dnnl::memory(x, onednn::engine(), DNNL_MEMORY_NONE);
  plan->sums = dnnl::memory(sums, onednn::engine(), DNNL_MEMORY_NONE);
  plan->product = dnnl::matmul({{row, x, sums}, onednn::engine()});
  return [plan](const KernelArgs& args) { plan->run(args); };
}

std::string refuse(const Problem& problem) {
  if (is_private(problem.inputs[0].format)) return "oneDNN sums plain tensors here";
  if (problem.inputs[0].dtype != DType::fp32) return "oneDNN sums fp32 columns here";
  if (channel_view("bias_grad", "grad_output", problem.inputs[0]).inner != 1) {
    return "oneDNN has reference code only for sums of planes";
  }
  return onednn::refusal(problem.inputs[0]);
}

const RegisteredKernel kernel{{
    .op = "bias_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul of ones and the matrix",
    .refusal = refuse,
    .prepare = bias_grad,
    .sums_by_thread = true,
    .temporary_bytes =
        [](const Problem& problem) {
          const ChannelView view = channel_view("bias_grad", "grad_output", problem.inputs[0]);
          return static_cast<std::size_t>(view.outer) * sizeof(float);
        },
}};

}  // namespace
}  // namespace opbench
