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
