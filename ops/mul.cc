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
