#include "ops/op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/nearest.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// Largest finite, smallest normal and smallest subnormal value of a floating dtype.
struct Limits {
  double max, min_normal, min_subnormal;
};

Limits limits_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
              std::numeric_limits<double>::denorm_min()};
    case DType::fp16:
      return {65504, std::ldexp(1.0, -14), std::ldexp(1.0, -24)};
    case DType::bf16:
      return {std::ldexp(255.0, 120), std::ldexp(1.0, -126), std::ldexp(1.0, -133)};
    default:
      return {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
              std::numeric_limits<float>::denorm_min()};
  }
}

std::vector<double> special_values(DType dtype) {
  if (!is_floating(dtype)) return {0, 1, -1, 127, -128};
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto [max, min_normal, min_subnormal] = limits_of(dtype);
  return {std::nan(""),  kInf,          -kInf, 0.0,        -0.0,        1.0,
          -1.0,          max,           -max,  min_normal, -min_normal, min_normal - min_subnormal,
          min_subnormal, -min_subnormal};
}

void check_inputs(const Op& op, std::span<const TensorDesc> inputs) {
  if (inputs.size() != op.inputs.size()) {
    throw Error(fmt::format("{} takes {} input tensor{}, found {}", op.name, op.inputs.size(),
                            op.inputs.size() == 1 ? "" : "s", inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (std::find(op.dtypes.begin(), op.dtypes.end(), inputs[i].dtype) == op.dtypes.end()) {
      std::vector<std::string_view> allowed;
      for (const DType dtype : op.dtypes) allowed.push_back(name(dtype));
      throw Error(fmt::format("{}: input '{}' is {}; allowed: {}", op.name, op.inputs[i].name,
                              name(inputs[i].dtype), fmt::join(allowed, ", ")));
    }
    if (std::find(op.formats.begin(), op.formats.end(), inputs[i].format) == op.formats.end()) {
      std::vector<std::string_view> allowed;
      for (const Format format : op.formats) allowed.push_back(name(format));
      throw Error(fmt::format("{}: input '{}' is stored as {}; allowed: {}", op.name,
                              op.inputs[i].name, name(inputs[i].format), fmt::join(allowed, ", ")));
    }
  }
}

}  // namespace

const Op& find_op(std::string_view name) {
  std::vector<std::string> names;
  for (const Op* op : RegisteredOp::all()) {
    if (op->name == name) return *op;
    names.emplace_back(op->name);
  }
  throw Error(fmt::format("unknown operator '{}'{}", name, suggestion(name, names)));
}

Problem make_problem(const Op& op, std::vector<TensorDesc> inputs, Attrs attrs) {
  check_inputs(op, inputs);
  Problem problem{&op, std::move(inputs), {}, std::move(attrs)};
  problem.outputs = op.infer(problem.inputs, problem.attrs);
  return problem;
}

std::vector<double> corner_values(const Problem& problem) {
  const DType dtype = problem.inputs.front().dtype;
  std::vector<double> values = special_values(dtype);
  if (problem.op->corner_points != nullptr) {
    const std::vector<double> own = problem.op->corner_points(problem.attrs, dtype);
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

}  // namespace opbench
