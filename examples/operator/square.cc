// An operator and a variant outside the sources of opbench.
// `mybench --case "square[2x3x5x7,fp32,NCHW]"` verifies and times them.
#include <opbench/kernel.h>
#include <opbench/operator.h>

namespace {

using namespace opbench;

const RegisteredOp square{{
    .name = "square",
    .ir_name = "square",
    .summary = "y = x*x",
    .source = "torch.square",
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .dtypes = {DType::fp32},
    .formats = {Format::NCHW, Format::ND},
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("square", in); },
    .reference =
        [](std::span<const InputReader> in, const Attrs&) {
          return unary_reference(in[0], [](double x) { return x * x; });
        },
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
}};

Launch prepare(const Problem& problem) {
  return [elements = stored_elements(problem)](const KernelArgs& args) {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    auto* y = static_cast<float*>(args.outputs[0]);
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) y[i] = x[i] * x[i];
    });
  };
}

const RegisteredKernel plain{{
    .op = "square",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a loop",
    .prepare = prepare,
}};

}  // namespace
