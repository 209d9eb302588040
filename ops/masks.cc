// Operators that make masks of bool, combine them and select by them.
#include "ops/elementwise_op.h"
#include "ops/movement.h"

namespace opbench {
namespace {

using Arg = GradientArg;

bool equal(double a, double b) { return a == b; }
bool not_equal(double a, double b) { return a != b; }
bool less(double a, double b) { return a < b; }
bool less_equal(double a, double b) { return a <= b; }
bool greater(double a, double b) { return a > b; }
bool greater_equal(double a, double b) { return a >= b; }
bool both(double a, double b) { return a != 0 && b != 0; }
bool either(double a, double b) { return a != 0 || b != 0; }
bool opposite(double a) { return a == 0; }
bool one_of_two(double a, double b) { return (a != 0) != (b != 0); }

double chosen(double condition, double a, double b) { return condition != 0 ? a : b; }
auto filled(const Attrs& attrs) {
  return [value = attrs.number("value")](double x, double mask) { return mask != 0 ? value : x; };
}

/// All inputs have one shape; the output has the dtype of input kLike, or bool with kNone.
constexpr std::size_t kNone = ~std::size_t{0};
template <OpName kName, std::size_t kLike>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  TensorDesc result = infer_broadcast(kName.view(), inputs)[0];
  result.dtype = kLike == kNone ? DType::boolean : inputs[kLike].dtype;
  return {result};
}

// Values are selected, not rounded: they are equal or wrong.
template <OpName kName, std::size_t kLike, auto kFormula, std::size_t kInputs>
ExactReference exact(std::span<const InputReader> inputs, const Attrs& attrs) {
  const DType dtype = infer<kName, kLike>(descs_of(inputs), attrs)[0].dtype;
  return [dtype, values_of = broadcast_reference<kInputs>(kName.view(), inputs,
                                                          formula_under<kFormula>(attrs))](
             std::size_t output, ElementRange range, void* to) {
    thread_local std::vector<double> values;
    values.resize(static_cast<std::size_t>(range.count));
    values_of(output, range, values);
    from_doubles(dtype, values.data(), range.count, to);
  };
}

template <OpName kName, std::size_t kLike, auto kFormula, std::size_t kInputs = 2>
Op chosen_op(std::vector<TensorSpec> inputs, const ElementwiseRow& row) {
  Op op = broadcast_op<kName, kFormula, 1, kInputs>(std::move(inputs), row);
  op.formats = kPlainFormats;
  op.accuracy = AccuracyClass::exact_value;
  op.infer = infer<kName, kLike>;
  op.reference = nullptr;
  op.exact_reference = exact<kName, kLike, kFormula, kInputs>;
  op.promotes = false;
  op.context = {};
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

// Whole numbers from -2 to 2, so that some are equal.
Distribution few(const Problem&) { return {DistributionKind::integers, -2, 2}; }

const std::vector<TensorSpec> kTwo = {{.name = "self", .data = few},
                                      {.name = "other", .data = few}};

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
    RegisteredOp(chosen_op<"eq", kNone, equal>(
        kTwo,
        {.summary = "x1 == x2",
         .source = "torch.eq; CANN Equal",
         .known_as = {.calls = {{"eq_Tensor, eq, Equal", "self|x1, other|x2", "result|out|y"}}}})),
    RegisteredOp(chosen_op<"ne", kNone, not_equal>(
        kTwo, {.summary = "x1 != x2",
               .source = "torch.ne; CANN NotEqual",
               .known_as = {.calls = {{"ne_Tensor, ne, NotEqual", "self|x1, other|x2",
                                       "result|out|y"}}}})),
    RegisteredOp(chosen_op<"lt", kNone, less>(
        kTwo,
        {.summary = "x1 < x2",
         .source = "torch.lt; CANN Less",
         .known_as = {.calls = {{"lt_Tensor, lt, Less", "self|x1, other|x2", "result|out|y"}}}})),
    RegisteredOp(chosen_op<"le", kNone, less_equal>(
        kTwo, {.summary = "x1 <= x2",
               .source = "torch.le; CANN LessEqual",
               .known_as = {.calls = {{"le_Tensor, le, LessEqual", "self|x1, other|x2",
                                       "result|out|y"}}}})),
    RegisteredOp(chosen_op<"gt", kNone, greater>(
        kTwo, {.summary = "x1 > x2",
               .source = "torch.gt; CANN Greater",
               .known_as = {.calls = {{"gt_Tensor, gt, Greater", "self|x1, other|x2",
                                       "result|out|y"}}}})),
    RegisteredOp(chosen_op<"ge", kNone, greater_equal>(
        kTwo, {.summary = "x1 >= x2",
               .source = "torch.ge; CANN GreaterEqual",
               .known_as = {.calls = {{"ge_Tensor, ge, GreaterEqual", "self|x1, other|x2",
                                       "result|out|y"}}}})),
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
                                {"Select", "condition, x1, x2", "y", {.is_profiled_only = true}}}},
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
