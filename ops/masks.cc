// Operators that make masks of bool, combine them and select by them.
#include <algorithm>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

using Arg = GradientArg;

constexpr auto equal = [](auto a, auto b) { return a == b; };
constexpr auto not_equal = [](auto a, auto b) { return a != b; };
constexpr auto less = [](auto a, auto b) { return a < b; };
constexpr auto less_equal = [](auto a, auto b) { return a <= b; };
constexpr auto greater = [](auto a, auto b) { return a > b; };
constexpr auto greater_equal = [](auto a, auto b) { return a >= b; };
bool both(double a, double b) { return a != 0 && b != 0; }
bool either(double a, double b) { return a != 0 || b != 0; }
bool opposite(double a) { return a == 0; }
bool one_of_two(double a, double b) { return (a != 0) != (b != 0); }

double chosen(double condition, double a, double b) { return condition != 0 ? a : b; }
auto filled(const Attrs& attrs) {
  return [value = attrs.number("value")](double x, double mask) { return mask != 0 ? value : x; };
}

template <OpName kName, auto kFormula>
ExactReference compared(std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto is_whole = [](const InputReader& input) { return !is_floating(input.desc().dtype); };
  if (std::all_of(inputs.begin(), inputs.end(), is_whole)) {
    return integer_reference<2>(kName.view(), inputs, DType::boolean, kFormula);
  }
  return chosen_values<kName, kNone, kFormula, 2>(inputs, attrs);
}

// Whole numbers from -2 to 2, so that some are equal.
Distribution few(const Problem& problem) {
  const DType dtype = problem.inputs[0].dtype;
  const double least = dtype == DType::uint8 || dtype == DType::boolean ? 0 : -2;
  return {DistributionKind::integers, least, dtype == DType::boolean ? 1.0 : 2.0};
}

const std::vector<TensorSpec> kTwo = {{.name = "self", .data = few},
                                      {.name = "other", .data = few}};

template <OpName kName, auto kFormula>
Op comparison_op(const ElementwiseRow& row) {
  Op op = chosen_op<kName, kNone, kFormula>(kTwo, row);
  op.dtypes = kNumberDTypes;
  op.dtypes.push_back(DType::boolean);
  op.exact_reference = compared<kName, kFormula>;
  return op;
}

template <OpName kName, auto kFormula, std::size_t kInputs = 2>
Op logical_op(const ElementwiseRow& row) {
  const std::vector<TensorSpec> inputs = {{"self"}, {"other"}};
  Op op =
      chosen_op<kName, kNone, kFormula, kInputs>({inputs.begin(), inputs.begin() + kInputs}, row);
  op.dtypes = {DType::boolean};
  return op;
}

std::vector<GradientCall> gradient_of_where(const Problem&) {
  const Arg condition{Arg::input, 0}, dy{Arg::output_gradient, 0};
  return {{"where", {condition, dy, {Arg::zeros_like_input, 1}}, {1}},
          {"where", {condition, {Arg::zeros_like_input, 2}, dy}, {2}}};
}

// Filled elements do not depend on the input.
std::vector<GradientCall> gradient_of_masked_fill(const Problem&) {
  Attrs zero(find_op("masked_fill").attrs);
  zero.put("value", 0.0);
  return {{"masked_fill", {{Arg::output_gradient, 0}, {Arg::input, 1}}, {0}, zero}};
}

const RegisteredOp kOperators[] = {
    RegisteredOp(comparison_op<"eq", equal>(
        {.summary = "x1 == x2",
         .source = "torch.eq; CANN Equal",
         .known_as = {.calls = {{"eq_Tensor, eq, Equal", "self|x1, other|x2", "result|out|y"}},
                      .torch = "torch.eq({0}, {1})"}})),
    RegisteredOp(comparison_op<"ne", not_equal>(
        {.summary = "x1 != x2",
         .source = "torch.ne; CANN NotEqual",
         .known_as = {.calls = {{"ne_Tensor, ne, NotEqual", "self|x1, other|x2", "result|out|y"}},
                      .torch = "torch.ne({0}, {1})"}})),
    RegisteredOp(comparison_op<"lt", less>(
        {.summary = "x1 < x2",
         .source = "torch.lt; CANN Less",
         .known_as = {.calls = {{"lt_Tensor, lt, Less", "self|x1, other|x2", "result|out|y"}},
                      .torch = "torch.lt({0}, {1})"}})),
    RegisteredOp(comparison_op<"le", less_equal>(
        {.summary = "x1 <= x2",
         .source = "torch.le; CANN LessEqual",
         .known_as = {.calls = {{"le_Tensor, le, LessEqual", "self|x1, other|x2", "result|out|y"}},
                      .torch = "torch.le({0}, {1})"}})),
    RegisteredOp(comparison_op<"gt", greater>(
        {.summary = "x1 > x2",
         .source = "torch.gt; CANN Greater",
         .known_as = {.calls = {{"gt_Tensor, gt, Greater", "self|x1, other|x2", "result|out|y"}},
                      .torch = "torch.gt({0}, {1})"}})),
    RegisteredOp(comparison_op<"ge", greater_equal>(
        {.summary = "x1 >= x2",
         .source = "torch.ge; CANN GreaterEqual",
         .known_as = {.calls = {{"ge_Tensor, ge, GreaterEqual", "self|x1, other|x2",
                                 "result|out|y"}},
                      .torch = "torch.ge({0}, {1})"}})),
    RegisteredOp(logical_op<"logical_and", both>(
        {.summary = "x1 and x2",
         .source = "torch.logical_and; CANN LogicalAnd",
         .known_as = {.calls = {{"logical_and, LogicalAnd, And", "self|x1|A, other|x2|B",
                                 "result|self|out|y|C"}}}})),
    RegisteredOp(logical_op<"logical_or", either>(
        {.summary = "x1 or x2",
         .source = "torch.logical_or; CANN LogicalOr",
         .known_as = {.calls = {{"logical_or, LogicalOr, Or", "self|x1|A, other|x2|B",
                                 "result|self|out|y|C"}}}})),
    RegisteredOp(logical_op<"logical_xor", one_of_two>(
        {.summary = "x1 or x2 but not both",
         .source = "torch.logical_xor",
         .known_as = {.calls = {{"logical_xor, Xor", "self|A, other|B", "result|self|out|C"}}}})),
    RegisteredOp(logical_op<"logical_not", opposite, 1>(
        {.summary = "not x",
         .source = "torch.logical_not; CANN LogicalNot",
         .known_as = {.calls = {{"logical_not, bitwise_not, LogicalNot, Not", "self|x|X",
                                 "result|self|out|y|Y"}}}})),
    RegisteredOp(chosen_op<"where", 1, chosen, 3>(
        {{.name = "condition", .dtypes = {DType::boolean}}, {"self"}, {"other"}},
        {.summary = "y = x1 where the condition holds, else x2, broadcast",
         .source = "torch.where; CANN SelectV2",
         .known_as = {.calls = {{"where, _s_where, where_self, SelectV2, Where",
                                 "condition, self|then|X, other|else|Y", "result|output"},
                                {"masked_fill_Scalar, masked_fill_Tensor, masked_fill",
                                 "mask, value, self",
                                 "result|self",
                                 {.turn = 1}},
                                {"Select", "condition, x1, x2", "y", {.is_profiled_only = true}}},
                      .torch = "torch.where({0}.bool(), {1}, {2})"},
         .gradient = gradient_of_where})),
    RegisteredOp(chosen_op<"masked_fill", 0, filled>(
        {{"self"}, {.name = "mask", .dtypes = {DType::boolean}}},
        {.summary = "y = value where the mask is true, else x, broadcast",
         .source = "torch.masked_fill; CANN MaskedFill",
         .known_as =
             {.calls =
                  {{"masked_fill_Scalar, masked_fill",
                    "self, mask",
                    "result|self",
                    {.attrs = "value"}},
                   {"MaskedFillBackward",
                    "grads/grads_0, mask",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "value: =0"}},
                   {.names = "WhereBackward, SWhereBackward",
                    .rules = {.parts = {{"masked_fill", "grads/grads_0, condition",
                                         "grad_inputs/grad_inputs_1", "value: =0"}}}},
                   {"MaskedFill", "x, mask", "y", {.attrs = "value", .is_profiled_only = true}}},
              .profiled = {{"MaskedFill", "x, mask, =value", "y"},
                           {"aten::masked_fill, aten::masked_fill_", "self, mask, =value"}}},
         .attrs = {{"value", 0.0, "the value to fill in"}},
         .gradient = gradient_of_masked_fill})),
};

}  // namespace
}  // namespace opbench
