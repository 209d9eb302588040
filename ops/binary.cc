// y = f(x1, x2), and operators of three tensors that belong to their gradients, broadcast like
// PyTorch.
#include <cmath>

#include "ops/elementwise_op.h"
#include "ops/terms.h"

namespace opbench {
namespace {

using Arg = GradientArg;

double difference(double a, double b) { return a - b; }
double quotient(double a, double b) { return a / b; }

// NaN if one input is NaN, unlike std::fmax.
double greater(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double less(double a, double b) { return std::isnan(a) || a < b ? a : b; }

// Equal inputs share the gradient equally. A NaN compares as not less, so it passes dy.
double maximum_grad(double dy, double a, double b) {
  if (a == b) return dy / 2;
  return a < b ? 0 : dy;
}

auto div_grad_other(const Attrs& attrs) {
  return [value = attrs.number("value")](double dy, double a, double b) {
    return -value * dy * (a / b) / b;
  };
}

auto addcmul(const Attrs& attrs) {
  return
      [value = attrs.number("value")](double x, double a, double b) { return x + value * a * b; };
}

auto addcdiv(const Attrs& attrs) {
  return
      [value = attrs.number("value")](double x, double a, double b) { return x + value * a / b; };
}

std::vector<AttrSpec> value_attr() { return {{"value", 1.0, "factor"}}; }

std::vector<GradientCall> gradient_of_sub(const Problem&) {
  return {{"", {{Arg::output_gradient, 0}}, {0}}, {"neg", {{Arg::output_gradient, 0}}, {1}}};
}

std::vector<GradientCall> gradient_of_div(const Problem&) {
  return {{"div", {{Arg::output_gradient, 0}, {Arg::input, 1}}, {0}},
          {"div_grad_other", {{Arg::output_gradient, 0}, {Arg::input, 0}, {Arg::input, 1}}, {1}}};
}

// minimum has the gradient of maximum with exchanged inputs, and vice versa.
std::vector<GradientCall> gradient_of_maximum(const Problem&) {
  return {{"maximum_grad", {{Arg::output_gradient, 0}, {Arg::input, 0}, {Arg::input, 1}}, {0}},
          {"maximum_grad", {{Arg::output_gradient, 0}, {Arg::input, 1}, {Arg::input, 0}}, {1}}};
}
std::vector<GradientCall> gradient_of_minimum(const Problem&) {
  return {{"maximum_grad", {{Arg::output_gradient, 0}, {Arg::input, 1}, {Arg::input, 0}}, {0}},
          {"maximum_grad", {{Arg::output_gradient, 0}, {Arg::input, 0}, {Arg::input, 1}}, {1}}};
}

// d(value*a*b)/da = value*dy*b, computed as addcmul with zeros.
std::vector<GradientCall> gradient_of_addcmul(const Problem&) {
  const Arg zeros{Arg::zeros_like_input, 0}, dy{Arg::output_gradient, 0};
  return {{"", {dy}, {0}},
          {"addcmul", {zeros, dy, {Arg::input, 2}}, {1}},
          {"addcmul", {zeros, dy, {Arg::input, 1}}, {2}}};
}

std::vector<GradientCall> gradient_of_addcdiv(const Problem&) {
  const Arg zeros{Arg::zeros_like_input, 0}, dy{Arg::output_gradient, 0};
  return {{"", {dy}, {0}},
          {"addcdiv", {zeros, dy, {Arg::input, 2}}, {1}},
          {"div_grad_other", {dy, {Arg::input, 1}, {Arg::input, 2}}, {2}}};
}

// Divisors away from 0.
Distribution positive(const Problem&) { return {DistributionKind::uniform, 0.125, 2}; }

const std::vector<TensorSpec> kTwo = {{"x1", "self"}, {"x2", "other"}};
const std::vector<TensorSpec> kQuotient = {{"x1", "self"},
                                           {.name = "x2", .ir_path = "other", .data = positive}};
const std::vector<TensorSpec> kTwoGrad = {{"grad_output", "grads/grads_0"}, {"self"}, {"other"}};
const std::vector<TensorSpec> kQuotientGrad = {
    {"grad_output", "grads/grads_0"}, {"self"}, {.name = "other", .data = positive}};
const std::vector<TensorSpec> kThree = {{"self"}, {"tensor1"}, {"tensor2"}};
const std::vector<TensorSpec> kThreeQuotient = {
    {"self"}, {"tensor1"}, {.name = "tensor2", .data = positive}};

// The terms of an operator of three inputs and a factor.
template <OpName kName, auto kMagnitude, auto kGreatest>
Terms terms_of_three(std::span<const InputReader> in, const Attrs& attrs) {
  const double value = attrs.number("value");
  const auto broadcast = [&](auto function) {
    return broadcast_reference<3>(
        kName.view(), in, [=](double x, double a, double b) { return function(value, x, a, b); });
  };
  return {broadcast(kMagnitude), broadcast(kGreatest)};
}

// The factors may be multiplied in any order.
double addcmul_terms(double value, double, double a, double b) {
  return 2 * std::fabs(value * a * b);
}
double addcmul_greatest(double value, double, double a, double b) {
  return greatest_product({value, a, b});
}
double addcdiv_terms(double value, double, double a, double b) {
  return 2 * std::fabs(value * a / b);
}
double addcdiv_greatest(double value, double, double a, double b) {
  return greatest_product({value, a, 1 / b});
}
double div_grad_other_terms(double, double, double, double) { return 0; }
double div_grad_other_greatest(double value, double dy, double a, double b) {
  return greatest_product({value, dy, a, 1 / b, 1 / b});
}

const RegisteredOp kOperators[] = {
    RegisteredOp(broadcast_op<"sub", difference, 1>(
        kTwo,
        {.summary = "y = x1 - x2, broadcast",
         .source = "torch.sub; CANN Sub",
         .known_as = {.calls = {{"sub_Tensor, sub, Sub",
                                 "self|x1|A, other|x2|B",
                                 "result|self|out|y|C",
                                 {.where = "alpha: 1"}},
                                {"rsub", "other, self", "result", {.where = "alpha: 1"}},
                                {.names = "SubBackward",
                                 .rules = {.where = "alpha: 1",
                                           .parts = {{"reshape", "grads/grads_0",
                                                      "grad_inputs/grad_inputs_0",
                                                      "shape: shape of grad_inputs/grad_inputs_0"},
                                                     {"neg", "grads/grads_0",
                                                      "grad_inputs/grad_inputs_1"}}}},
                                {"AssignSub", "var, value", "var", {.is_profiled_only = true}}},
                      .profiled = {{.names = "ForeachSubList", .each = "Sub", .lists = 2},
                                   {.names = "ForeachSubScalar", .each = "Sub", .lists = 1},
                                   {"aten::sub, aten::sub_", "self, other, =alpha"}},
                      .torch = "{0} - {1}"},
         .gradient = gradient_of_sub,
         .on_integers = on_integers<"sub", integer_difference>})),
    RegisteredOp(broadcast_op<"div", quotient, 1>(
        kQuotient,
        {.summary = "y = x1 / x2, broadcast",
         .source = "torch.div; CANN RealDiv",
         .known_as =
             {.calls = {{"LogBackward", "grads/grads_0, self", "grad_inputs/grad_inputs_0"},

                        // The dumper drops rounding_mode, which is a string: a dump does not show
                        // if the quotient is rounded.
                        {"div_Tensor_mode, divide_Tensor_mode, div_Scalar_mode, DivBackward2",
                         "self|grads/grads_0, other",
                         "result|self|out|grad_inputs/grad_inputs_0",
                         {.only = "rounding_mode:"}},
                        {"div_Tensor, div_Scalar, true_divide_Tensor, RealDiv, Div",
                         "self|x1|A, other|x2|B", "result|self|out|y|C"},
                        {.names = "DivBackward",
                         .rules = {.parts = {{"div", "grads/grads_0, other",
                                              "grad_inputs/grad_inputs_0"},
                                             {"div_grad_other", "grads/grads_0, self, other",
                                              "grad_inputs/grad_inputs_1"}}}}},
              .profiled = {{.names = "ForeachDivList", .each = "RealDiv", .lists = 2},
                           {.names = "ForeachDivScalar", .each = "RealDiv", .lists = 1}},
              .torch = "{0} / {1}"},
         .gradient = gradient_of_div})),
    RegisteredOp(broadcast_op<"div_grad_other", div_grad_other, 4, 3>(
        kQuotientGrad,
        {.ir_name = "DivBackward",
         .summary = "dx2 = -value dy x1 / x2^2, of y = value x1 / x2",
         .source = "torch.div backward: -grad * ((self / other) / other)",
         .attrs = value_attr(),
         .terms =
             terms_of_three<"div_grad_other", div_grad_other_terms, div_grad_other_greatest>})),
    RegisteredOp(broadcast_op<"maximum", greater, 1>(
        kTwo,
        {.summary = "y = max(x1, x2), NaN if either is",
         .source = "torch.maximum; CANN Maximum",
         .known_as = {.calls = {{"maximum, max_other, Maximum", "self|x1, other|x2",
                                 "result|out|y"},
                                {.names = "MaximumBackward",
                                 .rules = {.parts = {{"maximum_grad", "grads/grads_0, self, other",
                                                      "grad_inputs/grad_inputs_0"},
                                                     {"maximum_grad", "grads/grads_0, other, self",
                                                      "grad_inputs/grad_inputs_1"}}}}},
                      .torch = "torch.maximum({0}, {1})"},
         .gradient = gradient_of_maximum,
         .on_integers = on_integers<"maximum", greater_integer>})),
    RegisteredOp(broadcast_op<"minimum", less, 1>(
        kTwo,
        {.summary = "y = min(x1, x2), NaN if either is",
         .source = "torch.minimum; CANN Minimum",
         .known_as = {.calls = {{"minimum, min_other, Minimum", "self|x1, other|x2",
                                 "result|out|y"},
                                {.names = "MinimumBackward",
                                 .rules = {.parts = {{"maximum_grad", "grads/grads_0, other, self",
                                                      "grad_inputs/grad_inputs_0"},
                                                     {"maximum_grad", "grads/grads_0, self, other",
                                                      "grad_inputs/grad_inputs_1"}}}}},
                      .torch = "torch.minimum({0}, {1})"},
         .gradient = gradient_of_minimum,
         .on_integers = on_integers<"minimum", smaller_integer>})),
    RegisteredOp(broadcast_op<"maximum_grad", maximum_grad, 2, 3>(
        kTwoGrad, {.ir_name = "MaximumBackward",
                   .summary = "dx1 = 0 where x1 < x2, dy/2 where they are equal, else dy",
                   .source = "torch.maximum backward: grad.masked_fill(self < other, 0)"})),
    RegisteredOp(broadcast_op<"addcmul", addcmul, 3, 3>(
        kThree,
        {.summary = "y = x + value tensor1 tensor2, broadcast",
         .source = "torch.addcmul; CANN Addcmul",
         .known_as =
             {.calls = {{"addcmul, Addcmul",
                         "self|input_data, tensor1|x1, tensor2|x2",
                         "result|self|out|y",
                         {.attrs = "value"}},

                        // mul and div have no factor, so the gradients of tensor1 and tensor2 need
                        // a value of 1.
                        {.names = "AddcmulBackward",
                         .rules = {.where = "value: 1",
                                   .parts = {{"reshape", "grads/grads_0",
                                              "grad_inputs/grad_inputs_0",
                                              "shape: shape of grad_inputs/grad_inputs_0"},
                                             {"mul", "grads/grads_0, tensor2",
                                              "grad_inputs/grad_inputs_1"},
                                             {"mul", "grads/grads_0, tensor1",
                                              "grad_inputs/grad_inputs_2"}}}},
                        {.names = "AddcmulBackward",
                         .rules = {.parts = {{"reshape", "grads/grads_0",
                                              "grad_inputs/grad_inputs_0",
                                              "shape: shape of grad_inputs/grad_inputs_0"}}}}},
              .profiled = {{.names = "ForeachAddcmulScalar", .each = "Addcmul", .lists = 3}},
              .torch = "torch.addcmul({0}, {1}, {2}, value={value})"},
         .attrs = value_attr(),
         .gradient = gradient_of_addcmul,
         .terms = terms_of_three<"addcmul", addcmul_terms, addcmul_greatest>})),
    RegisteredOp(broadcast_op<"addcdiv", addcdiv, 3, 3>(
        kThreeQuotient,
        {.summary = "y = x + value tensor1 / tensor2, broadcast",
         .source = "torch.addcdiv; CANN Addcdiv",
         .known_as =
             {.calls =
                  {{"addcdiv, Addcdiv",
                    "self|input_data, tensor1|x1, tensor2|x2",
                    "result|self|out|y",
                    {.attrs = "value"}},

                   // mul and div have no factor, so the gradients of tensor1 and tensor2 need a
                   // value of 1.
                   {.names = "AddcdivBackward",
                    .rules = {.where = "value: 1",
                              .parts = {{"reshape", "grads/grads_0", "grad_inputs/grad_inputs_0",
                                         "shape: shape of grad_inputs/grad_inputs_0"},
                                        {"div", "grads/grads_0, tensor2",
                                         "grad_inputs/grad_inputs_1"},
                                        {"div_grad_other", "grads/grads_0, tensor1, tensor2",
                                         "grad_inputs/grad_inputs_2"}}}},
                   {.names = "AddcdivBackward",
                    .rules = {.parts = {{"reshape", "grads/grads_0", "grad_inputs/grad_inputs_0",
                                         "shape: shape of grad_inputs/grad_inputs_0"}}}}},
              .profiled = {{.names = "ForeachAddcdivScalar", .each = "Addcdiv", .lists = 3}},
              .torch = "torch.addcdiv({0}, {1}, {2}, value={value})"},
         .attrs = value_attr(),
         .gradient = gradient_of_addcdiv,
         .terms = terms_of_three<"addcdiv", addcdiv_terms, addcdiv_greatest>})),
};

}  // namespace
}  // namespace opbench
