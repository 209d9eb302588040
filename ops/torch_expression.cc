#include "ops/torch_expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/error.h"
#include "text/filled.h"

namespace opbench {
namespace {

// The Python expression for {name}.
std::string python_operand(const Op& op, std::string_view name) {
  if (name == "inputs") return "x";
  if (name == "shape") return "SHAPE";
  if (name == "dtype") return "DTYPE";
  std::size_t input = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), input);
  if (error != std::errc()) return fmt::format("a[\"{}\"]", name);
  if (input + op.optional_inputs < op.inputs.size()) return fmt::format("x[{}]", input);
  // Shape [0] before a given input stands for one that is not given.
  const bool is_last = input + 1 == op.inputs.size();
  return fmt::format("(x[{0}] if len(x) > {0}{1} else None)", input,
                     is_last ? "" : fmt::format(" and x[{}].shape != (0,)", input));
}

std::string python_value(const AttrValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* word = std::get_if<std::string>(&value)) {
    return fmt::format("\"{}\"", without_escapes(*word));
  }
  const auto* number = std::get_if<double>(&value);
  const bool is_infinite = number != nullptr && std::isinf(*number);
  return is_infinite ? fmt::format("float(\"{}\")", to_string(value)) : to_string(value);
}

using GradientsByName = std::multimap<std::string_view, TorchGradient>;

// Shapes at least one of which suits each operator whose gradient has a simple call.
const std::vector<Dims> kShapes = {{4, 16, 6, 6}, {37, 16}, {32, 32}, {655}};

std::vector<GradientCall> gradient_calls(const Op& op) {
  const Attrs attrs(op.attrs);
  for (const Dims& shape : kShapes) {
    try {
      const std::vector<Dims> shapes = shapes_like(op, shape, attrs);
      const Problem problem = make_problem(
          op, describe_inputs(op, shapes, op.dtypes.front(), op.formats.front(), attrs), attrs);
      return op.gradient(problem);
    } catch (const Error&) {
      continue;  // another shape may suit it
    }
  }
  return {};
}

GradientsByName all_gradients() {
  GradientsByName all;
  for (const Op* op : RegisteredOp::all()) {
    if (op->gradient == nullptr || op->known_as.torch.empty()) continue;
    for (GradientCall& call : gradient_calls(*op)) {
      // With attributes of its own it is another function than the operator's gradient.
      if (call.op.empty() || !call.attrs.empty()) continue;
      all.emplace(call.op, TorchGradient{op, std::move(call)});
    }
  }
  return all;
}

// True if the arguments have all inputs of the forward operator and the gradient of its result.
bool is_complete(const TorchGradient& gradient, const Problem& problem) {
  const std::vector<GradientArg>& args = gradient.call.args;
  if (args.size() != problem.inputs.size()) return false;
  const auto has = [&](GradientArg::Source source, std::size_t index) {
    return std::any_of(args.begin(), args.end(), [&](const GradientArg& arg) {
      return arg.source == source && arg.index == index;
    });
  };
  const Op& forward = *gradient.forward;
  for (std::size_t i = 0; i + forward.optional_inputs < forward.inputs.size(); ++i) {
    if (!has(GradientArg::input, i)) return false;
  }
  return !forward.variadic && has(GradientArg::output_gradient, 0);
}

}  // namespace

std::string torch_expression(const Op& op) {
  std::string text;
  std::string_view rest = op.known_as.torch;
  while (!rest.empty()) {
    const std::size_t open = std::min(rest.find('{'), rest.size());
    const std::size_t close = std::min(rest.find('}', open), rest.size());
    text += rest.substr(0, open);
    if (open < close) text += python_operand(op, rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(std::min(close + 1, rest.size()));
  }
  return text;
}

std::string torch_name(DType dtype) {
  constexpr std::array kNames = {"float64",  "float32",        "float16",       "bfloat16",
                                 "int64",    "int32",          "int16",         "int8",
                                 "uint8",    "bool",           "float8_e4m3fn", "float8_e5m2",
                                 "hifloat8", "float8_e8m0fnu", "int4"};
  static_assert(kNames.size() == kAllDTypes.size());
  return kNames[static_cast<std::size_t>(dtype)];
}

std::string python_attrs(const Attrs& attrs) {
  std::vector<std::string> all;
  for (const auto& [name, value] : attrs.values()) {
    all.push_back(fmt::format("\"{}\": {}", name, python_value(value)));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string_view name_of(GradientArg::Source source) {
  constexpr std::string_view kNames[] = {"output_gradient", "input", "output", "zeros_like_input"};
  return kNames[source];
}

TorchGradient torch_gradient(const Problem& problem) {
  static const GradientsByName all = all_gradients();
  const auto [begin, end] = all.equal_range(problem.op->name);
  for (auto found = begin; found != end; ++found) {
    if (is_complete(found->second, problem)) return found->second;
  }
  return {};
}

}  // namespace opbench
