#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
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

template <Share kShare, bool kStream = false>
Launch softmax_grad(const Problem& problem) {
  SoftmaxLines of = lines_of(problem);
  // Lines of whole cache lines, because both ends of others would be written in parts.
  of.streams = kStream && of.view.extent * static_cast<std::int64_t>(size_of(of.dtype)) % 64 == 0 &&
               outgrows_cache(problem);
  return [lines = of](const KernelArgs& args) {
    softmax_grad_lines(lines, kShare, args.inputs[0], args.inputs[1], args.outputs[0]);
  };
}

Kernel native(std::string_view op, std::string_view summary,
              Launch (*prepare)(const Problem& problem)) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = summary,
          .prepare = prepare};
}

// The device's operators, each in a family with its gradient.
Kernel on_device(std::string_view op, std::string_view name, std::string_view family,
                 std::string_view summary, Launch (*prepare)(const Problem& problem)) {
  return {.op = op,
          .name = name,
          .family = family,
          .provider = Provider::npu,
          .summary = summary,
          .prepare = prepare};
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(native("softmax",
                            "maximum, sum of exp, quotients: three passes over each line, in fp32",
                            softmax<Share::quotient>)),
    RegisteredKernel(native(
        "log_softmax", "maximum, sum of exp, differences: three passes over each line, in fp32",
        softmax<Share::logarithm>)),
    RegisteredKernel(native(
        "softmax_grad", "sum of products, then the gradient: two passes over each line, in fp32",
        softmax_grad<Share::product>)),
    RegisteredKernel(native("log_softmax_grad",
                            "sum, then the gradient: two passes over each line, in fp32",
                            softmax_grad<Share::logarithm>)),
    RegisteredKernel(
        on_device("softmax", "softmax_v2", {},
                  "SoftmaxV2: x less the maximum, exp, times 1/sum; fp32, line by line in cache",
                  softmax<Share::product>)),
    RegisteredKernel(on_device("softmax_grad", "softmax_grad", "softmax_v2",
                               "SoftmaxGrad: (dy - sum(dy*y))*y in fp32, streamed past the cache",
                               softmax_grad<Share::product, true>)),
    RegisteredKernel(on_device(
        "log_softmax", "log_softmax_v2", {},
        "LogSoftmaxV2: x less the maximum, less log of the sum; fp32, line by line in cache",
        softmax<Share::logarithm>)),
    RegisteredKernel(on_device("log_softmax_grad", "log_softmax_grad", "log_softmax_v2",
                               "LogSoftmaxGrad: dy - exp(y)*sum(dy) in fp32, line by line in cache",
                               softmax_grad<Share::logarithm>)),
};

}  // namespace
}  // namespace opbench
