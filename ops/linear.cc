#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

const std::vector<Format> kMatrixFormats = {Format::ND, Format::FRACTAL_NZ};

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const Dims &x = inputs[0].shape, &weight = inputs[1].shape;
  if (x.size() != 2 || weight.size() != 2) {
    throw Error(
        fmt::format("linear: 'self' has shape {} and 'weight' {}; allowed: [N, K] and "
                    "[M, K]",
                    to_string(x), to_string(weight)));
  }
  const MatMulShape s = matmul_shape("linear", inputs[0], inputs[1], false, true);
  if (inputs.size() > 2 && inputs[2].shape != Dims{s.n}) {
    throw Error(
        fmt::format("linear: 'bias' has shape {}; allowed: {}, one number for each row of "
                    "'weight'",
                    to_string(inputs[2].shape), s.n));
  }
  return {with_shape(inputs[0], {s.m, s.n})};
}

Reference reference(std::span<const InputReader> inputs, const Attrs&) {
  return matmul_reference(inputs[0], inputs[1], inputs.size() > 2 ? &inputs[2] : nullptr,
                          matmul_shape("linear", inputs[0].desc(), inputs[1].desc(), false, true));
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = matmul_shape(problem).operations();
  if (problem.inputs.size() > 2) traffic.operations += double(problem.outputs[0].elements());
  return traffic;
}

// dx = dy w, dw = dy^T x, db = the sums of the columns of dy.
std::vector<GradientCall> gradient(const Problem& forward) {
  const GradientArg dy{GradientArg::output_gradient, 0};
  const std::pair<std::string_view, AttrValue> transposed[] = {{"transpose_a", true}};
  std::vector<GradientCall> calls = {
      {"matmul", {dy, {GradientArg::input, 1}}, {0}, attrs_with("matmul", {})},
      {"matmul", {dy, {GradientArg::input, 0}}, {1}, attrs_with("matmul", transposed)}};
  if (forward.inputs.size() > 2) calls.push_back({"bias_grad", {dy}, {2}});
  return calls;
}

// Equally many outputs and inputs, at most 64.
std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  const std::int64_t m = shape.empty() ? 1 : std::min<std::int64_t>(shape.back(), 64);
  return {shape, {m, shape.empty() ? 1 : shape.back()}, {m}};
}

const RegisteredOp registered{{
    .name = "linear",
    .ir_name = "addmm",
    .summary = "y = x * weight^T + bias",
    .source = "torch.nn.functional.linear; CANN MatMulV2",
    .known_as =
        {.calls =
             {// A classifier, with a weight that is stored transposed.
              {"MatMul, MatMulV2, MatMulV3", "x1, x2, bias", "y", {.where = "transpose_x1: 0"}},
              {"linear", "input|self, weight, bias?", "result"}},
         .profiled = {{"MatMul, MatMulV2, MatMulV3", "x1, x2, bias", "y"}},
         .torch = "F.linear({0}, {1}, {2})",
         .likely = likely_of_matmul},
    .inputs = {{"self", "self", {}, unit_data},
               {"weight",
                "weight",
                {},
                [](const Problem& problem) { return weight_data(matmul_shape(problem).k); }},
               {"bias", "bias", {}, unit_data, {Format::ND}}},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .dtypes = kArithmeticDTypes,
    .formats = kMatrixFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::sums,
    .context = {.uses_cube = true, .input_format = cube_matrices},
}};

}  // namespace
}  // namespace opbench
