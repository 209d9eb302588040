#include "ops/elementwise_op.h"

namespace opbench {
namespace {

// Both gradients are the gradient of the output.
std::vector<GradientCall> gradient(const Problem&) {
  return {{"", {{GradientArg::output_gradient, 0}}, {0}},
          {"", {{GradientArg::output_gradient, 0}}, {1}}};
}

const RegisteredOp registered{broadcast_op<"add", [](double a, double b) { return a + b; }, 1>(
    {{"x1", "self"}, {"x2", "other"}},
    {.summary = "y = x1 + x2, broadcast",
     .source = "torch.add; CANN Add",
     .known_as = {.calls = {{"Add, AddV2", "x1, x2", "y"},
                            {"add_Tensor, add, Add, AddV2",
                             "self|x1|A, other|x2|B",
                             "result|self|out|y|C",
                             {.where = "alpha: 1", .turn = 2}},
                            {"Eltwise", "x1, x2", "y", {.where = "mode: 1"}},
                            {"AssignAdd", "ref, value", "ref", {.is_profiled_only = true}}},
                  .torch = "{0} + {1}"},
     .gradient = gradient,
     .on_integers = on_integers<"add", integer_sum>})};

}  // namespace
}  // namespace opbench
