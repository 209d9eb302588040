// Transposed convolution like a framework: the gradient of a convolution, then the bias.
#include "kernels/kernel.h"
#include "kernels/simd/in_fp32.h"
#include "ops/conv2d.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

Problem without_bias(const Problem& problem) {
  const Attrs attrs =
      transposed_attrs(problem.inputs[0].shape, problem.inputs[1].shape, problem.attrs);
  std::vector<TensorDesc> inputs = {problem.inputs[0], problem.inputs[1]};
  for (TensorDesc& input : inputs) {
    input = describe(DType::fp32, input.shape, Format::NCHW);
  }
  return make_problem(find_op("conv2d_grad_input"), std::move(inputs), attrs);
}

const Kernel& gradient_kernel() { return *kernels_of("conv2d_grad_input").front(); }

Launch prepare(const Problem& problem) {
  const Dims& y = problem.outputs[0].shape;
  return in_fp32(problem,
                 [launch = gradient_kernel().prepare(without_bias(problem)), planes = y[0] * y[1],
                  channels = y[1], plane = y[2] * y[3]](const KernelArgs& args) {
                   launch({args.inputs.first(2), args.outputs});
                   if (args.inputs.size() < 3) return;
                   const auto* const bias = static_cast<const float*>(args.inputs[2]);
                   auto* const out = static_cast<float*>(args.outputs[0]);
                   parallel_blocks(planes, [&](std::int64_t i) {
                     for (std::int64_t k = 0; k < plane; ++k)
                       out[i * plane + k] += bias[i % channels];
                   });
                 });
}

const RegisteredKernel native{{
    .op = "conv_transpose2d",
    .name = "native",
    .provider = Provider::framework,
    .summary = "the gradient of a convolution by its input, then the bias, in fp32",
    .refusal =
        [](const Problem& problem) { return refusal(gradient_kernel(), without_bias(problem)); },
    .prepare = prepare,
    .temporary_bytes =
        [](const Problem& problem) {
          return in_fp32_bytes(problem) + temporary_bytes(gradient_kernel(), without_bias(problem));
        },
}};

}  // namespace
}  // namespace opbench
