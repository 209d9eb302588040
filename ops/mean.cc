#include "ops/elementwise.h"
#include "ops/reduction.h"

namespace opbench {
namespace {

// The mean of an empty tensor is 0/0 = NaN.
Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return constant_reference(sum_of(inputs[0]) / double(inputs[0].desc().elements()));
}

const RegisteredOp registered{{
    .name = "mean",
    .ir_name = "mean",
    .summary = "y = sum(x)/n over all elements",
    .source = "torch.mean; CANN ReduceMean",
    .known_as = {.not_recorded = "dumps hold it as what reduce_mean computes",
                 .torch = "{0}.mean().reshape({shape})"},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer_scalar,
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1.0); },
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{
              {"mean_grad", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
