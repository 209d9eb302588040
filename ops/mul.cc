#include "ops/broadcast.h"
#include "ops/elementwise.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return broadcast_reference("mul", inputs, [](double a, double b) { return a * b; });
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{"mul", {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}}, {0}},
          {"mul", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}, {1}}};
}

const RegisteredOp registered{{
    .name = "mul",
    .ir_name = "mul",
    .summary = "y = x1 * x2, broadcast",
    .source = "torch.mul; CANN Mul",
    .known_as = {.calls = {{"Eltwise", "x1, x2", "y", {.only = "mode: 0", .turn = 1}},
                           {"mul_Tensor, mul, Mul", "self|x1|A, other|x2|B", "result|self|out|y|C"},
                           {"ExpBackward", "grads/grads_0, result", "grad_inputs/grad_inputs_0"},
                           {.names = "MulBackward",
                            .rules = {.parts = {{"mul", "grads/grads_0, other",
                                                 "grad_inputs/grad_inputs_0"},
                                                {"mul", "grads/grads_0, self",
                                                 "grad_inputs/grad_inputs_1"}}}}},
                 .profiled = {{.names = "ForeachMulList", .each = "Mul", .lists = 2},
                              {.names = "ForeachMulScalar", .each = "Mul", .lists = 1}},
                 .torch = "{0} * {1}"},
    .inputs = {{"x1", "self"}, {"x2", "other"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_broadcast("mul", in); },
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 1); },
    .gradient = gradient,
    .promotes = true,
    .context = {.engine_refusal =
                    [](const Problem& problem, const FrameworkRules&) {
                      return broadcast_engine_refusal(problem);
                    }},
}};

}  // namespace
}  // namespace opbench
