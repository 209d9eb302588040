#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/integers.h"
#include "ops/movement.h"
#include "ops/op.h"

namespace opbench {

/// beta and threshold, shared by softplus and its gradient.
std::vector<AttrSpec> softplus_attrs();

/// beta and threshold in fp32, as kernels hold them for every dtype.
struct SoftplusNumbers {
  float beta, threshold;

  explicit SoftplusNumbers(const Attrs& attrs)
      : beta(static_cast<float>(attrs.number("beta"))),
        threshold(static_cast<float>(attrs.number("threshold"))) {}

  /// beta*x > threshold in fp32, with a rounded product: the test of PyTorch and of the device. In
  /// fp64 the reference would select the other branch if the product is a tie.
  bool is_linear(double x) const { return static_cast<float>(x) * beta > threshold; }
};

/// Points around threshold/beta (the strict `>` decides there), around the logarithms of the
/// dtype's maximum and minimum (exp overflows and underflows there), and the point from which 1 +
/// exp(x) loses exp(x).
std::vector<double> softplus_corner_points(const Attrs& attrs, DType dtype);

/// approximate: "none" or "tanh", for gelu and its gradient.
std::vector<AttrSpec> gelu_attrs();

/// gelu(x), and dy times its derivative, in fp64.
std::function<double(double x)> gelu_of(const Attrs& attrs);
std::function<double(double dy, double x)> gelu_grad_of(const Attrs& attrs);
/// The term of 1 - tanh(u)^2 in the slope of gelu by tanh: its factor |x/2 du/dx|, times the part
/// of a rounding of tanh, relative to `epsilon`, that 1 - |tanh(u)| leaves room for.
double gelu_cancellation(double x, double epsilon);

// Families of element-wise operators as tables. A row has a name, the operations per element, a
// function of one element of each input, and the properties that differ within the family.

/// The name of an operator as a template argument, for its rules, which are plain functions.
template <std::size_t kSize>
struct OpName {
  char text[kSize]{};

  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval OpName(const char (&name)[kSize]) {
    for (std::size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }
  constexpr std::string_view view() const { return {text, kSize - 1}; }
};

struct ElementwiseRow {
  std::string_view ir_name = {};  ///< empty: the name
  std::string_view summary;
  std::string_view source;
  KnownAs known_as = {};
  std::vector<AttrSpec> attrs = {};
  std::vector<GradientCall> (*gradient)(const Problem& forward) = nullptr;
  std::vector<double> (*corner_points)(const Attrs& attrs, DType dtype) = nullptr;
  /// Suitable values of the last input, if normal(0,1) is not.
  Distribution (*data)(const Problem& problem) = nullptr;
  Terms (*terms)(std::span<const InputReader> inputs, const Attrs& attrs) = nullptr;
  /// The reference on integers; null: the operator does not take them.
  ExactReference (*on_integers)(std::span<const InputReader> inputs, const Attrs& attrs) = nullptr;
  bool holds_fp32 = false, takes_functions = false;
};

/// The function of elements: kFormula, or its result for the attributes.
template <auto kFormula>
auto formula_under(const Attrs& attrs) {
  if constexpr (std::is_invocable_v<decltype(kFormula), const Attrs&>) {
    return kFormula(attrs);
  } else {
    return [](auto... x) { return kFormula(x...); };
  }
}

/// The common properties of all families.
template <OpName kName, int kOperations>
Op elementwise_op(std::vector<TensorSpec> inputs, const ElementwiseRow& row) {
  return {
      .name = kName.view(),
      .ir_name = row.ir_name.empty() ? kName.view() : row.ir_name,
      .summary = row.summary,
      .source = row.source,
      .known_as = row.known_as,
      .inputs = std::move(inputs),
      .outputs = {{"result"}},
      .attrs = row.attrs,
      .dtypes = row.on_integers == nullptr ? kArithmeticDTypes : kNumberDTypes,
      .formats = kElementwiseFormats,
      .infer = [](std::span<const TensorDesc> in,
                  const Attrs&) { return infer_elementwise(kName.view(), in); },
      .exact_reference = row.on_integers,
      .terms = row.terms,
      .traffic = [](const Problem& problem) { return elementwise_traffic(problem, kOperations); },
      .gradient = row.gradient,
      .corner_points = row.corner_points,
      .holds_fp32 = row.holds_fp32,
      .takes_functions = row.takes_functions,
  };
}

/// `on_integers` of a row: kFunction of ops/integers.h.
template <OpName kName, auto kFunction, std::size_t kInputs = 2>
ExactReference on_integers(std::span<const InputReader> inputs, const Attrs&) {
  return integer_reference<kInputs>(kName.view(), inputs, inputs[0].desc().dtype, kFunction);
}

/// y = kFormula(x).
template <OpName kName, auto kFormula, int kOperations>
Op unary_op(const ElementwiseRow& row) {
  Op op = elementwise_op<kName, kOperations>({{.name = "self", .data = row.data}}, row);
  op.reference = [](std::span<const InputReader> in, const Attrs& attrs) {
    return unary_reference(in[0], formula_under<kFormula>(attrs));
  };
  return op;
}

/// dx = kFormula(dy, saved): the gradient of a unary operator from the tensor that autograd saves,
/// its input "self" or its output "result". Without broadcasting.
template <OpName kName, auto kFormula, int kOperations>
Op unary_grad_op(std::string_view saved, const ElementwiseRow& row) {
  Op op = elementwise_op<kName, kOperations>(
      {{"grad_output", "grads/grads_0"}, {.name = saved, .data = row.data}}, row);
  op.outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}};
  op.reference = [](std::span<const InputReader> in, const Attrs& attrs) {
    return binary_reference(in[0], in[1], formula_under<kFormula>(attrs));
  };
  return op;
}

/// The gradient is kOp(dy, input 0) or kOp(dy, output 0).
template <OpName kOp>
std::vector<GradientCall> grad_of_input(const Problem&) {
  return {{kOp.view(), {{GradientArg::output_gradient, 0}, {GradientArg::input, 0}}}};
}
template <OpName kOp>
std::vector<GradientCall> grad_of_output(const Problem&) {
  return {{kOp.view(), {{GradientArg::output_gradient, 0}, {GradientArg::output, 0}}}};
}

/// The bounds of clamp; the largest number of fp32 means an open side.
struct ClampBounds {
  double min, max;

  explicit ClampBounds(const Attrs& attrs) : min(attrs.number("min")), max(attrs.number("max")) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    if (min == -kNone) min = -kInf;
    if (max == kNone) max = kInf;
  }

  static constexpr double kNone = double(std::numeric_limits<float>::max());
};

/// The attributes of clamp and of its gradient.
inline std::vector<AttrSpec> clamp_attrs() {
  return {{"min", -ClampBounds::kNone, "lower bound; the smallest number of fp32: no bound"},
          {"max", ClampBounds::kNone, "upper bound; the largest number of fp32: no bound"}};
}

inline std::vector<double> clamp_corners(const Attrs& attrs, DType) {
  return {attrs.number("min"), attrs.number("max")};
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// x^exponent like torch.pow. For 0.5 and -0.5 it is the root and its inverse, which differ from
/// std::pow at -Inf and -0.
inline double power_of(double x, double exponent) {
  if (exponent == 0.5) return std::sqrt(x);
  if (exponent == -0.5) return 1 / std::sqrt(x);
  return std::pow(x, exponent);
}

/// The attribute of pow and of its gradient.
inline std::vector<AttrSpec> exponent_attr() { return {{"exponent", 2.0, "of x"}}; }

/// y = kFormula(x1, ..., xn), all inputs broadcast and promoted.
template <OpName kName, auto kFormula, int kOperations, std::size_t kInputs = 2>
Op broadcast_op(std::vector<TensorSpec> inputs, const ElementwiseRow& row) {
  Op op = elementwise_op<kName, kOperations>(std::move(inputs), row);
  op.infer = [](std::span<const TensorDesc> in, const Attrs&) {
    return infer_broadcast(kName.view(), in);
  };
  op.reference = [](std::span<const InputReader> in, const Attrs& attrs) {
    return broadcast_reference<kInputs>(kName.view(), in, formula_under<kFormula>(attrs));
  };
  op.promotes = true;
  op.context.engine_refusal = [](const Problem& problem, const FrameworkRules&) {
    return broadcast_engine_refusal(problem);
  };
  return op;
}

/// An operator on integers alone: y = kFunction(x1, ..., xn) of ops/integers.h, broadcast.
template <OpName kName, auto kFunction, std::size_t kInputs = 2>
Op integer_op(std::vector<TensorSpec> inputs, const ElementwiseRow& row) {
  Op op = elementwise_op<kName, 1>(std::move(inputs), row);
  op.dtypes = kIntegerDTypes;
  op.accuracy = AccuracyClass::exact;
  op.infer = [](std::span<const TensorDesc> in, const Attrs&) {
    return infer_broadcast(kName.view(), in);
  };
  op.exact_reference = on_integers<kName, kFunction, kInputs>;
  return op;
}

/// The output of an operator that selects values has the dtype of input kLike, or bool with kNone.
inline constexpr std::size_t kNone = ~std::size_t{0};
template <OpName kName, std::size_t kLike>
std::vector<TensorDesc> infer_chosen(std::span<const TensorDesc> inputs, const Attrs&) {
  const TensorDesc result = infer_broadcast(kName.view(), inputs)[0];
  return {
      describe(kLike == kNone ? DType::boolean : inputs[kLike].dtype, result.shape, result.format)};
}

/// Values in fp64 that the output's dtype holds, as stored.
template <OpName kName, std::size_t kLike, auto kFormula, std::size_t kInputs>
ExactReference chosen_values(std::span<const InputReader> inputs, const Attrs& attrs) {
  const DType dtype = infer_chosen<kName, kLike>(descs_of(inputs), attrs)[0].dtype;
  return [dtype, values_of = broadcast_reference<kInputs>(kName.view(), inputs,
                                                          formula_under<kFormula>(attrs))](
             std::size_t output, ElementRange range, void* to) {
    thread_local std::vector<double> values;
    values.resize(static_cast<std::size_t>(range.count));
    values_of(output, range, values);
    from_doubles(dtype, values.data(), range.count, to);
  };
}

/// y = kFormula(x1, ..., xn), broadcast. Values are selected, not rounded: they are equal or wrong.
template <OpName kName, std::size_t kLike, auto kFormula, std::size_t kInputs = 2>
Op chosen_op(std::vector<TensorSpec> inputs, const ElementwiseRow& row) {
  Op op = broadcast_op<kName, kFormula, 1, kInputs>(std::move(inputs), row);
  op.formats = kPlainFormats;
  op.accuracy = AccuracyClass::exact_value;
  op.infer = infer_chosen<kName, kLike>;
  op.reference = nullptr;
  op.exact_reference = chosen_values<kName, kLike, kFormula, kInputs>;
  op.promotes = false;
  op.context = {};
  return op;
}

}  // namespace opbench
