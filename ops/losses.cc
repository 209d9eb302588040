// Element-wise losses against targets, and their gradients by the input: rows of one table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/elementwise_op.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/reduction.h"
#include "tensor/error.h"

namespace opbench {
namespace {

double squared_error(double x, double t) { return (x - t) * (x - t); }
double squared_error_slope(double x, double t) { return 2 * (x - t); }

double sign(double x) { return (x > 0) - (x < 0); }
double absolute_error(double x, double t) { return std::fabs(x - t); }
double absolute_error_slope(double x, double t) { return sign(x - t); }

// A parabola near 0 and linear from beta on; with beta = 0 it is the absolute error.
auto smooth_error(const Attrs& attrs) {
  return [beta = attrs.number("beta")](double x, double t) {
    const double error = std::fabs(x - t);
    return error < beta ? 0.5 * error * error / beta : error - 0.5 * beta;
  };
}
auto smooth_error_slope(const Attrs& attrs) {
  return [beta = attrs.number("beta")](double x, double t) {
    return std::fabs(x - t) >= beta ? sign(x - t) : (x - t) / beta;
  };
}

// -t log(s) - (1 - t) log(1 - s) with s = 1/(1 + e^-x), in PyTorch's form, which does not overflow.
double logit_error(double x, double t) {
  return (1 - t) * x + std::fmax(-x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
double logit_error_slope(double x, double t) { return 1 / (1 + std::exp(-x)) - t; }

double divisor_of(const Attrs& attrs, const TensorDesc& x) {
  return reduction_of(attrs) == Reduction::mean ? double(x.elements()) : 1;
}

template <OpName kName>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc x = infer_elementwise(kName.view(), inputs)[0];
  return {with_shape(x, reduced_loss(attrs, x.shape))};
}

template <auto kFormula>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference each = binary_reference(inputs[0], inputs[1], formula_under<kFormula>(attrs));
  if (reduction_of(attrs) == Reduction::none) return each;
  const TensorDesc& x = inputs[0].desc();
  std::vector<double> errors(static_cast<std::size_t>(x.elements()));
  each(0, {0, x.elements()}, errors);
  double sum = 0;
  for (const double error : errors) sum += error;
  return constant_reference(sum / divisor_of(attrs, x));
}

template <OpName kName>
std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise(kName.view(), inputs.subspan(1));
  require_loss_gradient(kName.view(), inputs[0], attrs, inputs[1].shape);
  return {inputs[1]};
}

template <auto kSlope>
Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Reference slopes = binary_reference(inputs[1], inputs[2], formula_under<kSlope>(attrs));
  const double divisor = divisor_of(attrs, inputs[1].desc());
  return [dy = inputs[0], slopes, divisor, is_single = reduction_of(attrs) != Reduction::none](
             std::size_t output, ElementRange range, std::span<double> to) {
    thread_local std::vector<double> gradient;
    gradient.resize(is_single ? 1 : to.size());
    dy.read(is_single ? ElementRange{0, 1} : range, gradient);
    slopes(output, range, to);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] *= gradient[is_single ? 0 : i] / divisor;
  };
}

// The logarithm of 1 plus an exponential, next to a product. Other errors are differences of exact
// inputs and have no further terms.
double logit_error_terms(double x, double t) { return (2 + std::fabs(t)) * std::fabs(x) + 1; }
// The error of the sigmoid follows that of its exponent, and the sigmoid may nearly equal the
// target.
double logit_error_slope_terms(double x, double t) {
  const double sigmoid = 1 / (1 + std::exp(-x));
  return sigmoid * (1 + std::fabs(x) * (1 - sigmoid)) + std::fabs(t);
}

template <auto kTerms>
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = reference<kTerms>(inputs, attrs)};
}

template <auto kTerms>
Terms terms_of_slope(std::span<const InputReader> inputs, const Attrs& attrs) {
  return {.magnitude = [each = reference_grad<kTerms>(inputs, attrs)](
                           std::size_t output, ElementRange range, std::span<double> to) {
    each(output, range, to);
    for (double& value : to) value = std::fabs(value);
  }};
}

template <int kOperations, std::size_t kErrors>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = kOperations * double(problem.inputs[kErrors].elements());
  return traffic;
}

// Symmetric losses also have a gradient by the target: the call with exchanged sides.
enum class Sides { alike, different };

template <OpName kGradient, Sides kSides>
std::vector<GradientCall> gradient(const Problem&) {
  const GradientArg dy{GradientArg::output_gradient, 0}, x{GradientArg::input, 0},
      target{GradientArg::input, 1};
  std::vector<GradientCall> calls = {{kGradient.view(), {dy, x, target}, {0}}};
  if (kSides == Sides::alike) calls.push_back({kGradient.view(), {dy, target, x}, {1}});
  return calls;
}

std::vector<AttrSpec> loss_attrs(std::vector<AttrSpec> own) {
  own.push_back(reduction_attr());
  return own;
}

template <OpName kName, OpName kGradient, auto kFormula, Sides kSides>
Op loss(const ElementwiseRow& row) {
  return {
      .name = kName.view(),
      .ir_name = kName.view(),
      .summary = row.summary,
      .source = row.source,
      .known_as = row.known_as,
      .inputs = {{"self", "self", {}, unit_data}, {.name = "target", .data = row.data}},
      .outputs = {{"result"}},
      .attrs = loss_attrs(row.attrs),
      .dtypes = kArithmeticDTypes,
      .formats = kPlainFormats,
      .infer = infer<kName>,
      .reference = reference<kFormula>,
      .terms = row.terms == nullptr ? terms<kFormula> : row.terms,
      .traffic = traffic<4, 0>,
      .gradient = gradient<kGradient, kSides>,
      .mixing = Mixing::other,
      .takes_functions = row.takes_functions,
      .context = {.needs_fp32 = true},
  };
}

template <OpName kName, auto kSlope>
Op loss_grad(const ElementwiseRow& row) {
  return {
      .name = kName.view(),
      .ir_name = row.ir_name,
      .summary = row.summary,
      .source = row.source,
      .known_as = row.known_as,
      .inputs = {{"grad_output", "grads/grads_0", {}, unit_data},
                 {"self", "self", {}, unit_data},
                 {.name = "target", .data = row.data}},
      .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
      .attrs = loss_attrs(row.attrs),
      .dtypes = kArithmeticDTypes,
      .formats = kPlainFormats,
      .infer = infer_grad<kName>,
      .reference = reference_grad<kSlope>,
      .terms = row.terms == nullptr ? terms_of_slope<kSlope> : row.terms,
      .traffic = traffic<4, 1>,
      .inputs_like =
          [](const Dims& shape, const Attrs& attrs) {
            return std::vector<Dims>{reduced_loss(attrs, shape), shape, shape};
          },
      // The gradient of the whole output is one number.
      .mixing = Mixing::other,
      .takes_functions = row.takes_functions,
  };
}

AttrSpec beta() {
  return {"beta", 1.0, "the error from which on the loss is linear",
          [](const AttrValue& value) -> std::string {
            return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
          }};
}

Distribution shares(const Problem&) { return {DistributionKind::uniform, 0, 1}; }

const RegisteredOp kOperators[] = {
    RegisteredOp(loss<"mse_loss", "mse_loss_grad", squared_error, Sides::alike>(
        {.summary = "y = the mean of (x - target)^2, their sum, or each",
         .source = "torch.nn.functional.mse_loss; CANN MseLoss",
         .known_as = {.calls = {{"mse_loss, MseLoss",
                                 "self|predict, target|label",
                                 "result|out|y",
                                 {.attrs = "reduction: reduction as none|mean|sum"}}},
                      .profiled = {{"aten::mse_loss", "self, target, =reduction"}},
                      .likely = likely_of_loss},
         .data = unit_data})),
    RegisteredOp(loss_grad<"mse_loss_grad", squared_error_slope>(
        {.ir_name = "MseLossBackward",
         .summary = "dx = 2(x - target)*dy, over n for a mean",
         .source = "torch.nn.functional.mse_loss backward; CANN MseLossGrad",
         .known_as = {.calls = {{"MseLossBackward, mse_loss_backward",
                                 "grads/grads_0|grad_output, self, target",
                                 "grad_inputs/grad_inputs_0|result",
                                 {.attrs = "reduction: reduction as none|mean|sum"}},
                                {"MseLossGrad",
                                 "dout, predict, label",
                                 "y",
                                 {.attrs = "reduction: reduction as none|mean|sum",
                                  .is_profiled_only = true}}},
                      .profiled = {{"aten::mse_loss_backward",
                                    "grad_output, self, target, =reduction"}},
                      .likely = likely_of_loss_grad},
         .data = unit_data})),
    RegisteredOp(loss<"l1_loss", "l1_loss_grad", absolute_error, Sides::alike>(
        {.summary = "y = the mean of |x - target|, their sum, or each",
         .source = "torch.nn.functional.l1_loss; CANN LpLoss",
         .known_as = {.calls = {{"l1_loss",
                                 "self, target",
                                 "result|out",
                                 {.attrs = "reduction: reduction as none|mean|sum"}}},
                      .likely = likely_of_loss},
         .data = unit_data})),
    RegisteredOp(loss_grad<"l1_loss_grad", absolute_error_slope>(
        {.ir_name = "L1LossBackward",
         .summary = "dx = sign(x - target)*dy, over n for a mean",
         .source = "torch.nn.functional.l1_loss backward; CANN L1LossGrad",
         .known_as = {.calls = {{"L1LossBackward, l1_loss_backward",
                                 "grads/grads_0|grad_output, self, target",
                                 "grad_inputs/grad_inputs_0|result",
                                 {.attrs = "reduction: reduction as none|mean|sum"}}},
                      .likely = likely_of_loss_grad},
         .data = unit_data})),
    RegisteredOp(loss<"smooth_l1_loss", "smooth_l1_loss_grad", smooth_error, Sides::alike>(
        {.summary = "y = the mean of (e < beta ? e^2/(2 beta) : e - beta/2), e = |x - target|, "
                    "their sum, or each",
         .source = "torch.nn.functional.smooth_l1_loss; Girshick 2015; CANN SmoothL1LossV2",
         .known_as = {.calls = {{"smooth_l1_loss",
                                 "self, target",
                                 "result|out",
                                 {.attrs = "beta, reduction: reduction as none|mean|sum"}},
                                {"SmoothL1LossV2",
                                 "predict, label",
                                 "loss",
                                 {.attrs = "beta: sigma, reduction: reduction as none|mean|sum",
                                  .is_profiled_only = true}}},
                      .likely = likely_of_loss},
         .attrs = {beta()},
         .data = unit_data})),
    RegisteredOp(loss_grad<"smooth_l1_loss_grad", smooth_error_slope>(
        {.ir_name = "SmoothL1LossBackward",
         .summary = "dx = (e < beta ? (x - target)/beta : sign(x - target))*dy, over n for a mean",
         .source = "torch.nn.functional.smooth_l1_loss backward; CANN SmoothL1LossGradV2",
         .known_as = {.calls = {{"SmoothL1LossBackward, smooth_l1_loss_backward",
                                 "grads/grads_0|grad_output, self, target",
                                 "grad_inputs/grad_inputs_0|result",
                                 {.attrs = "beta, reduction: reduction as none|mean|sum"}},
                                {"SmoothL1LossGradV2",
                                 "dout, predict, label",
                                 "gradient",
                                 {.attrs = "beta: sigma, reduction: reduction as none|mean|sum",
                                  .is_profiled_only = true}}},
                      .likely = likely_of_loss_grad},
         .attrs = {beta()},
         .data = unit_data})),
    RegisteredOp(loss<"bce_with_logits", "bce_with_logits_grad", logit_error, Sides::different>(
        {.summary =
             "y = the mean of (1 - target)*x + max(-x, 0) + log(1 + e^-|x|), their sum, or each",
         .source = "torch.nn.functional.binary_cross_entropy_with_logits; CANN "
                   "SigmoidCrossEntropyWithLogitsV2",
         .known_as = {.calls = {{"binary_cross_entropy_with_logits",
                                 "self, target",
                                 "result",
                                 {.attrs = "reduction: reduction as none|mean|sum",
                                  .where = "weight:, pos_weight:"}}}},
         .data = shares,
         .terms = terms<logit_error_terms>,
         .takes_functions = true})),
    RegisteredOp(loss_grad<"bce_with_logits_grad", logit_error_slope>(
        {.ir_name = "BinaryCrossEntropyWithLogitsBackward",
         .summary = "dx = (1/(1 + e^-x) - target)*dy, over n for a mean",
         .source = "torch.nn.functional.binary_cross_entropy_with_logits backward; CANN "
                   "SigmoidCrossEntropyWithLogitsGradV2",
         .known_as = {.calls = {{"BinaryCrossEntropyWithLogitsBackward, "
                                 "binary_cross_entropy_with_logits_backward",
                                 "grads/grads_0|grad_output, self, target",
                                 "grad_inputs/grad_inputs_0|result",
                                 {.attrs = "reduction: reduction as none|mean|sum",
                                  .where = "weight:, pos_weight:"}}}},
         .data = shares,
         .terms = terms_of_slope<logit_error_slope_terms>,
         .takes_functions = true})),
};

}  // namespace
}  // namespace opbench
