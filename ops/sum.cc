#include "ops/elementwise.h"
#include "ops/reduction.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return constant_reference(sum_of(inputs[0]));
}

const RegisteredOp registered{{
    .name = "sum",
    .ir_name = "sum",
    .summary = "y = sum(x) over all elements",
    .source = "torch.sum; CANN ReduceSumD",
    .known_as = {.calls = {{"sum, sum_dim_IntList", "self", "result", {.where = "dim:"}}},
                 .profiled = {{"aten::sum", "self, =dim, =keepdim"}},
                 .torch = "{0}.sum().reshape({shape})"},
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
              {"sum_grad", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
