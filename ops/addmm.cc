// A matrix product plus another tensor: addmm of matrices, baddbmm of batches of matrices.
#include <fmt/format.h>

#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

MatMulShape shape_of(std::span<const TensorDesc> inputs) {
  return matmul_shape("addmm", inputs[1], inputs[2], false, false);
}

TensorDesc result_of(std::span<const TensorDesc> inputs) {
  const MatMulShape s = shape_of(inputs);
  Dims shape = inputs[1].shape;
  shape[shape.size() - 2] = s.m;
  shape.back() = s.n;
  return with_shape(inputs[1], shape);
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  const TensorDesc result = result_of(inputs);
  const Dims &from = inputs[0].shape, &to = result.shape;
  bool fits = from.size() <= to.size();
  for (std::size_t i = 1; fits && i <= from.size(); ++i) {
    fits = from[from.size() - i] == 1 || from[from.size() - i] == to[to.size() - i];
  }
  if (fits) return {result};
  throw Error(
      fmt::format("addmm: 'self' has shape {}; allowed: {} or a shape that broadcasts to it",
                  to_string(from), to_string(to)));
}

// With beta = 0, `self` is ignored, NaN included.
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  const Reference product = matmul_reference(inputs[1], inputs[2], nullptr, shape_of(descs));
  return [self = inputs[0], product, view = BroadcastView(descs[0].shape, result_of(descs).shape),
          alpha = attrs.number("alpha"), beta = attrs.number("beta")](
             std::size_t output, ElementRange range, std::span<double> to) {
    std::vector<double> added(to.size());
    product(output, range, to);
    read_broadcast(self, view, range, added);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] *= alpha;
      if (beta != 0) to[i] += beta * added[i];
    }
  };
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations =
      shape_of(problem.inputs).operations() + 3 * double(problem.outputs[0].elements());
  return traffic;
}

// dself = beta*dy, dmat1 = dy mat2^T, dmat2 = mat1^T dy.
std::vector<GradientCall> gradient(const Problem& forward) {
  const double alpha = forward.attrs.number("alpha");
  if (alpha != 1) {
    throw Error(fmt::format("addmm: no gradient for alpha {}; allowed: 1", alpha));
  }
  const GradientArg dy{GradientArg::output_gradient, 0};
  const std::pair<std::string_view, AttrValue> first[] = {{"transpose_b", true}},
                                               second[] = {{"transpose_a", true}},
                                               scale[] = {{"value", forward.attrs.number("beta")}};
  return {{"muls", {dy}, {0}, attrs_with("muls", scale)},
          {"matmul", {dy, {GradientArg::input, 2}}, {1}, attrs_with("matmul", first)},
          {"matmul", {{GradientArg::input, 1}, dy}, {2}, attrs_with("matmul", second)}};
}

// Factors [.., m, k] and [.., k, n] with n up to 64, and a row to add.
std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) {
  if (shape.size() < 2) return {shape, shape, shape};
  Dims second = shape;
  second[shape.size() - 2] = shape.back();
  second.back() = std::min<std::int64_t>(shape.back(), 64);
  return {{second.back()}, shape, second};
}

Distribution weights(const Problem& problem) { return weight_data(shape_of(problem.inputs).k); }

const RegisteredOp registered{{
    .name = "addmm",
    .ir_name = "addmm",
    .summary = "y = beta*self + alpha*(mat1*mat2) over the last two axes, self broadcast",
    .source = "torch.addmm, torch.baddbmm; CANN MatMulV2, BatchMatMul",
    .known_as =
        {.calls = {{"addmm, baddbmm",
                    "self, mat1|batch1, mat2|batch2",
                    "result|self|out",
                    {.attrs = "alpha, beta"}},
                   {.names = "AddmmBackward, BaddbmmBackward",
                    .rules = {.where = "alpha: 1, beta: 1",
                              .parts = {{"sum_to_size", "grads/grads_0",
                                         "grad_inputs/grad_inputs_0",
                                         "size: shape of grad_inputs/grad_inputs_0"},
                                        {"matmul", "grads/grads_0, mat2|batch2",
                                         "grad_inputs/grad_inputs_1", "transpose_b: =true"},
                                        {"matmul", "mat1|batch1, grads/grads_0",
                                         "grad_inputs/grad_inputs_2", "transpose_a: =true"}}}},
                   {.names = "AddmmBackward, BaddbmmBackward",
                    .rules = {.where = "alpha: 1",
                              .parts = {{"matmul", "grads/grads_0, mat2|batch2",
                                         "grad_inputs/grad_inputs_1", "transpose_b: =true"},
                                        {"matmul", "mat1|batch1, grads/grads_0",
                                         "grad_inputs/grad_inputs_2", "transpose_a: =true"}}}}},
         .profiled = {{"aten::addmm, aten::addmm_", "self, mat1, mat2, =beta, =alpha"},
                      {"aten::baddbmm", "self, batch1, batch2, =beta, =alpha"}}},
    .inputs = {{"self", "self", {}, unit_data},
               {"mat1", "mat1", {}, unit_data},
               {"mat2", "mat2", {}, weights}},
    .outputs = {{"result"}},
    .attrs = {{"beta", 1.0, "factor of self; 0: self is ignored"},
              {"alpha", 1.0, "factor of the product"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .mixing = Mixing::sums,
    .context = {.uses_cube = true, .first_operand = 1},
}};

}  // namespace
}  // namespace opbench
