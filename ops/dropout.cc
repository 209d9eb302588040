#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  if (inputs[0].shape == inputs[1].shape) return {inputs[0]};
  throw Error(fmt::format("dropout: 'mask' has shape {}; allowed: {}, one for each element",
                          to_string(inputs[1].shape), to_string(inputs[0].shape)));
}

// A product with 0, not a selection: dropped NaN and Inf become NaN.
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const double p = attrs.number("p"), scale = p == 1 ? 0 : 1 / (1 - p);
  return binary_reference(inputs[0], inputs[1], [scale](double x, double mask) {
    return x * (mask != 0 ? 1.0 : 0.0) * scale;
  });
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{"dropout", {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}}}};
}

const RegisteredOp registered{{
    .name = "dropout",
    .ir_name = "native_dropout",
    .summary = "y = x*mask/(1 - p), with a given random mask",
    .source = "torch.nn.functional.dropout, torch._fused_dropout; Srivastava et al. 2014",
    .known_as = {.calls =
                     {// Random; a dump with the mask holds no values that were dropped.
                      {"native_dropout",
                       "input|self, output result1",
                       "result0",
                       {.attrs = "p", .where = "train: 1", .needs = "p"}},
                      {"_fused_dropout",
                       "self, output result1",
                       "result0",
                       {.attrs = "p: 1 - p", .needs = "p"}},
                      {"NativeDropoutBackward",
                       "grads/grads_0, result1",
                       "grad_inputs/grad_inputs_0",
                       {.attrs = "p", .where = "train: 1", .needs = "p"}},
                      {"FusedDropoutBackward",
                       "grads/grads_0, result1",
                       "grad_inputs/grad_inputs_0",
                       {.attrs = "p: 1 - p", .needs = "p"}}}},
    .inputs = {{"self", "input"}, {.name = "mask", .dtypes = {DType::boolean, DType::uint8}}},
    .outputs = {{"result"}},
    .attrs = {{"p", 0.5, "share of the elements that are dropped",
               [](const AttrValue& value) -> std::string {
                 const double p = std::get<double>(value);
                 return p >= 0 && p <= 1 ? "" : "it must be from 0 to 1";
               }}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = [](const Problem& problem) { return elementwise_traffic(problem, 2); },
    .gradient = gradient,
}};

}  // namespace
}  // namespace opbench
