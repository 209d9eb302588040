#include "kernels/registry/kernel.h"
#include "kernels/softmax_lines.h"

namespace opbench {
namespace {

SoftmaxLines lines_of(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return {problem.inputs[0].dtype,
          {shape, axis_of(problem.op->name, shape, problem.attrs.integer("dim"))}};
}

template <Share kShare>
Launch softmax(const Problem& problem) {
  return [lines = lines_of(problem)](const KernelArgs& args) {
    softmax_lines(lines, kShare, args.inputs[0], args.outputs[0]);
  };
}

Launch softmax_grad(const Problem& problem) {
  return [lines = lines_of(problem)](const KernelArgs& args) {
    softmax_grad_lines(lines, args.inputs[0], args.inputs[1], args.outputs[0]);
  };
}

const RegisteredKernel native{{
    .op = "softmax",
    .name = "native",
    .provider = Provider::framework,
    .summary = "maximum, sum of exp, quotients: three passes over each line, in fp32",
    .prepare = softmax<Share::quotient>,
}};

const RegisteredKernel softmax_v2{{
    .op = "softmax",
    .name = "softmax_v2",
    .summary = "SoftmaxV2: x less the maximum, exp, times 1/sum; fp32, line by line in cache",
    .prepare = softmax<Share::product>,
}};

const RegisteredKernel native_grad{{
    .op = "softmax_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sum of products, then the gradient: two passes over each line, in fp32",
    .prepare = softmax_grad,
}};

const RegisteredKernel softmax_grad_kernel{{
    .op = "softmax_grad",
    .name = "softmax_grad",
    .family = "softmax_v2",
    .summary = "SoftmaxGrad: (dy - sum(dy*y))*y in fp32, line by line in cache",
    .prepare = softmax_grad,
}};

}  // namespace
}  // namespace opbench
