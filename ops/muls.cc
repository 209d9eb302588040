#include "ops/elementwise.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return unary_reference(inputs[0],
                         [value = attrs.number("value")](double x) { return x * value; });
}

const RegisteredOp registered{{
    .name = "muls",
    .ir_name = "mul",
    .summary = "y = x * value",
    .source = "torch.mul by a number; CANN Muls",
    .known_as = {.calls = {{"mul_Tensor, mul_Scalar, mul, Muls",
                            "self|x",
                            "result|self|out|y",
                            {.attrs = "value: other|value", .turn = 1}}},
                 .torch = "{0} * {value}"},
    .inputs = {{"x", "self"}},
    .outputs = {{"result"}},
    .attrs = {{"value", 1.0, "factor"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("muls", in); },
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{{"muls", {{GradientArg::output_gradient, 0}}}};
        },
    .context = {.factor = [](const Attrs& attrs) { return attrs.number("value"); }},
}};

}  // namespace
}  // namespace opbench
