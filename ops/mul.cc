#include "ops/elementwise_op.h"

namespace opbench {
namespace {

std::vector<GradientCall> gradient(const Problem&) {
  return {{"mul", {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}}, {0}},
          {"mul", {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}, {1}}};
}

const RegisteredOp registered{broadcast_op<"mul", [](double a, double b) { return a * b; }, 1>(
    {{"x1", "self"}, {"x2", "other"}},
    {.summary = "y = x1 * x2, broadcast",
     .source = "torch.mul; CANN Mul",
     .known_as =
         {.calls =
              {{"Eltwise", "x1, x2", "y", {.only = "mode: 0", .turn = 1}},
               {"mul_Tensor, mul, Mul", "self|x1|A, other|x2|B", "result|self|out|y|C"},
               {"ExpBackward", "grads/grads_0, result", "grad_inputs/grad_inputs_0"},
               {.names = "MulBackward",
                .rules = {.parts = {{"mul", "grads/grads_0, other", "grad_inputs/grad_inputs_0"},
                                    {"mul", "grads/grads_0, self", "grad_inputs/grad_inputs_1"}}}}},
          .profiled = {{.names = "ForeachMulList", .each = "Mul", .lists = 2},
                       {.names = "ForeachMulScalar", .each = "Mul", .lists = 1}},
          .torch = "{0} * {1}"},
     .gradient = gradient,
     .on_integers = on_integers<"mul", integer_product>})};

}  // namespace
}  // namespace opbench
