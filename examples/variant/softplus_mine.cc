// A user's variant of an operator of opbench. It is verified and timed together with the others:
// mybench_softplus --case "softplus[8x64x56x56,fp32,NCHW]"
#include <opbench/kernel.h>

#include <cmath>

namespace {

using namespace opbench;

std::string refuse(const Problem& problem) {
  return problem.attrs.number("beta") > 0 ? "" : "it takes a beta above 0 only";
}

Launch prepare(const Problem& problem) {
  const auto beta = static_cast<float>(problem.attrs.number("beta"));
  const auto threshold = static_cast<float>(problem.attrs.number("threshold"));
  return [elements = stored_elements(problem), beta, threshold](const KernelArgs& args) {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    auto* y = static_cast<float*>(args.outputs[0]);
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float t = beta * x[i];
        y[i] = t > threshold ? x[i] : std::log1p(std::exp(t)) / beta;
      }
    });
  };
}

const RegisteredKernel mine{{
    .op = "softplus",
    .name = "mine",
    .summary = "log1p(exp(beta*x))/beta, a loop",
    .dtypes = {DType::fp32},
    .refusal = refuse,
    .prepare = prepare,
}};

}  // namespace
