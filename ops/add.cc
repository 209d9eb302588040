#include "ops/broadcast.h"
#include "ops/elementwise.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return broadcast_reference("add", inputs, [](double a, double b) { return a + b; });
}

// The output's gradient itself, for both.
std::vector<GradientCall> gradient(const Problem&) {
  return {{"", {{GradientArg::output_gradient, 0}}, {0}},
          {"", {{GradientArg::output_gradient, 0}}, {1}}};
}

const RegisteredOp registered{{
    .name = "add",
    .ir_name = "add",
    .summary = "y = x1 + x2, broadcast",
    .source = "torch.add; CANN Add",
    .known_as = {.calls = {{"Add, AddV2", "x1, x2", "y"},
                           {"add_Tensor, add, Add, AddV2",
                            "self|x1|A, other|x2|B",
                            "result|self|out|y|C",
                            {.where = "alpha: 1", .turn = 2}},
                           {"Eltwise", "x1, x2", "y", {.where = "mode: 1"}},
                           {"Adds", "x1, x2", "y", {.is_profiled_only = true}},
                           {"AssignAdd", "ref, value", "ref", {.is_profiled_only = true}}},
                 .profiled = {{.names = "Adds", .inputs = "x1", .outputs = "y", .scalars = "x2"},
                              {.names = "ForeachAddScalar", .each = "Add", .lists = 1}},
                 .torch = "{0} + {1}"},
    .inputs = {{"x1", "self"}, {"x2", "other"}},
    .outputs = {{"result"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_broadcast("add", in); },
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
