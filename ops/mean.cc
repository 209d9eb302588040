#include <limits>
#include <vector>

#include "ops/elementwise.h"

namespace opbench {
namespace {

// sum(x) / n over all elements, blocks added in order; NaN for an empty tensor.
double mean(const InputReader& x) {
  const TensorDesc& desc = x.desc();
  std::vector<double> values(static_cast<std::size_t>(largest_block(desc)));
  double sum = 0;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    const std::span<double> part(values.data(), static_cast<std::size_t>(range.count));
    x.read(range, part);
    double block_sum = 0;
    for (const double value : part) block_sum += value;
    sum += block_sum;
  }
  return desc.elements() == 0 ? std::numeric_limits<double>::quiet_NaN()
                              : sum / double(desc.elements());
}

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return [value = mean(inputs[0])](std::size_t, ElementRange, std::span<double> to) {
    for (double& element : to) element = value;
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  return {describe(inputs[0].dtype, {})};
}

const RegisteredOp registered{{
    .name = "mean",
    .ir_name = "mean",
    .summary = "y = sum(x)/n over all elements",
    .source = "torch.mean; CANN ReduceMean",
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1.0); },
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {"mean_grad", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
        },
    .mixes_elements = true,
}};

}  // namespace
}  // namespace opbench
