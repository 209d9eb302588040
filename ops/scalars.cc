// A tensor and one number: y = x * value and y = x + value.
#include <algorithm>
#include <cmath>
#include <functional>

#include "ops/elementwise.h"

namespace opbench {
namespace {

template <class Operation>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return unary_reference(
      inputs[0], [value = attrs.number("value")](double x) { return Operation()(x, value); });
}

// The number is rounded to fp32 or to the dtype, an error that remains if the sum cancels.
Terms terms_of_sum(std::span<const InputReader>, const Attrs& attrs) {
  return {.magnitude = [size = std::fabs(attrs.number("value"))](std::size_t, ElementRange,
                                                                 std::span<double> to) {
    std::fill(to.begin(), to.end(), size);
  }};
}

Traffic traffic(const Problem& problem) { return elementwise_traffic(problem, 1); }

const RegisteredOp muls{{
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
    .reference = reference<std::multiplies<>>,
    .traffic = traffic,
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{{"muls", {{GradientArg::output_gradient, 0}}}};
        },
    .context = {.factor = [](const Attrs& attrs) { return attrs.number("value"); }},
}};

// Other numbers of a recorded alpha, and integers, are computed by axpy and add.
const RegisteredOp adds{{
    .name = "adds",
    .ir_name = "add",
    .summary = "y = x + value",
    .source = "torch.add of a number; CANN Adds",
    .known_as =
        {.calls = {{"add_Tensor, add",
                    "self|x",
                    "result|self|out|y",
                    {.attrs = "value: other", .where = "alpha: 1", .needs = "value", .turn = 3}},
                   {"Adds", "x", "y", {.is_profiled_only = true}}},
         .profiled = {{.names = "ForeachAddScalar", .each = "Adds", .lists = 1}},
         .torch = "{0} + {value}"},
    .inputs = {{"x", "self"}},
    .outputs = {{"result"}},
    .attrs = {{"value", 1.0, "summand"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_elementwise("adds", in); },
    .reference = reference<std::plus<>>,
    .terms = terms_of_sum,
    .traffic = traffic,
    .gradient =
        [](const Problem&) {
          return std::vector<GradientCall>{{"", {{GradientArg::output_gradient, 0}}}};
        },
    .adds_to_first = true,
}};

}  // namespace
}  // namespace opbench
