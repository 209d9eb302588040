#include <fmt/format.h>

#include <cmath>

#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/integers.h"
#include "ops/terms.h"

namespace opbench {
namespace {

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return broadcast_reference("axpy", inputs, [alpha = attrs.number("alpha")](double x1, double x2) {
    return x1 + alpha * x2;
  });
}

// Dumps record alpha with integers, too.
ExactReference reference_on_integers(std::span<const InputReader> inputs, const Attrs& attrs) {
  return integer_reference<2>(
      "axpy", inputs, inputs[0].desc().dtype,
      [alpha = std::llround(attrs.number("alpha"))](std::int64_t x1, std::int64_t x2) {
        return integer_sum(x1, integer_product(std::int64_t{alpha}, x2));
      });
}

// The product alpha*x2 is the only intermediate result.
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference product = broadcast_reference(
      "axpy", inputs,
      [alpha = attrs.number("alpha")](double, double x2) { return std::fabs(alpha * x2); });
  return {.magnitude = product, .greatest = product};
}

// dx1 = dy, dx2 = alpha*dy.
std::vector<GradientCall> gradient(const Problem& forward) {
  Attrs scaled(find_op("muls").attrs);
  scaled.put("value", forward.attrs.number("alpha"));
  return {{"", {{GradientArg::output_gradient, 0}}, {0}},
          {"muls", {{GradientArg::output_gradient, 0}}, {1}, scaled}};
}

// In private formats channels must fill their blocks, or the shapes must be equal with the rule on.
std::string engine_refusal(const Problem& problem, const FrameworkRules& rules) {
  if (is_broadcast(problem)) return broadcast_engine_refusal(problem);
  if (!is_private(problem.inputs[0].format)) return {};
  const std::int64_t channels = unaligned_channels(problem.inputs);
  if (channels == 0 || rules.axpy_equal_shapes) return {};
  return fmt::format("axpy: C={} is not a multiple of 16 (axpy_equal_shapes is off)", channels);
}

const RegisteredOp registered{{
    .name = "axpy",
    .ir_name = "add",
    .summary = "y = x1 + alpha*x2, broadcast",
    .source = "torch.add with alpha; CANN Axpy, AxpyV2",
    .known_as = {.calls = {{"add_Tensor, add, Add, AddV2, AxpyV2, Axpy",
                            "self|x1|A, other|x2|B",
                            "result|self|out|y|C",
                            {.attrs = "alpha", .turn = 1}},
                           {.names = "AddBackward",
                            .rules = {.parts = {{"reshape", "grads/grads_0",
                                                 "grad_inputs/grad_inputs_0",
                                                 "shape: shape of grad_inputs/grad_inputs_0"},
                                                {"muls", "grads/grads_0",
                                                 "grad_inputs/grad_inputs_1", "value: alpha"}}}}},
                 .profiled = {{.names = "ForeachAddList", .each = "AxpyV2", .lists = 2},
                              {"aten::add, aten::add_", "self, other, =alpha"}},
                 .torch = "torch.add({0}, {1}, alpha={alpha})"},
    .inputs = {{"x1", "self"}, {"x2", "other"}},
    .outputs = {{"result"}},
    .attrs = {{"alpha", 1.0, "factor of x2"}},
    .dtypes = kArithmeticDTypes,
    .formats = kElementwiseFormats,
    .infer = [](std::span<const TensorDesc> in,
                const Attrs&) { return infer_broadcast("axpy", in); },
    .reference = reference,
    .exact_reference = reference_on_integers,
    .terms = terms,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 2); },
    .gradient = gradient,
    .adds_to_first = true,
    .context = {.engine_refusal = engine_refusal},
}};

}  // namespace
}  // namespace opbench
