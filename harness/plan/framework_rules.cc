#include "harness/plan/framework_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/precision.h"

namespace opbench {
namespace {

/// Channels of the first tensor that no whole number of blocks holds; 0: none.
std::int64_t unaligned_channels(std::span<const TensorDesc> tensors) {
  for (const TensorDesc& tensor : tensors) {
    const Dims& shape = tensor.shape;
    if (shape.empty()) continue;
    // A vector is a row of channels; (N, C, ...) has them second.
    const std::int64_t channels = shape.size() == 1 ? shape[0] : shape[1];
    if (channels % 16 != 0) return channels;
  }
  return 0;
}

bool has_equal_shapes(const Problem& problem) {
  return std::all_of(problem.inputs.begin(), problem.inputs.end(), [&](const TensorDesc& input) {
    return input.shape == problem.inputs[0].shape;
  });
}

// ConcatD and SplitD cut NC1HWC0 along the channels only between blocks; nothing follows the last.
std::string unaligned_cut(const Problem& problem) {
  const std::string_view op = problem.op->name;
  const std::span<const TensorDesc> parts(op == "concat" ? problem.inputs : problem.outputs);
  const std::int64_t axis = problem.attrs.integer("axis");
  const TensorDesc& first = parts.front();
  const std::int64_t rank = std::ssize(first.shape);
  if (first.format != Format::NC1HWC0 || (axis < 0 ? axis + rank : axis) != 1) return {};
  const std::int64_t channels =
      unaligned_channels(op == "concat" ? parts.first(parts.size() - 1) : parts);
  return channels == 0 ? "" : fmt::format("{}: C={} is not a multiple of 16", op, channels);
}

OutputRule like(const TensorDesc& tensor, std::string_view op) {
  return {tensor.format, fmt::format("{}: the output follows the first input", op)};
}

OutputRule concat_rule(std::span<const TensorDesc> given, const FrameworkRules& rules) {
  const std::int64_t channels = given[0].shape.size() == 4 ? unaligned_channels(given) : 0;
  if (channels != 0 && rules.concat_output_nchw) {
    return {Format::NCHW, fmt::format("concat: C={} is not a multiple of 16, so the output is "
                                      "NCHW (concat_output_nchw)",
                                      channels)};
  }
  return {given[0].format,
          "concat: the output follows the first input (concat_output_nchw is off)"};
}

OutputRule conv_rule(const Problem& problem, const FrameworkRules& rules) {
  if (is_depthwise(problem) && !rules.dwconv_output_5hd) {
    return {Format::NCHW, "conv2d: a depthwise output is NCHW (dwconv_output_5hd is off)"};
  }
  return {Format::NC1HWC0, "conv2d: the output is NC1HWC0"};
}

}  // namespace

bool is_depthwise(const Problem& problem) {
  if (!problem.op->name.starts_with("conv2d")) return false;
  const std::int64_t groups = problem.attrs.integer("groups");
  return groups > 1 && problem.inputs[0].shape.size() == 4 && groups == problem.inputs[0].shape[1];
}

std::string engine_refusal(const Problem& problem, const FrameworkRules& rules) {
  const std::string_view op = problem.op->name;
  if (op == "concat" || op == "split") return unaligned_cut(problem);
  if (op != "axpy" || !is_private(problem.inputs[0].format)) return {};
  const std::int64_t channels = unaligned_channels(problem.inputs);
  if (channels == 0) return {};
  if (!has_equal_shapes(problem)) {
    return fmt::format("axpy: C={} is not a multiple of 16 and the shapes differ", channels);
  }
  if (rules.axpy_equal_shapes) return {};
  return fmt::format("axpy: C={} is not a multiple of 16 (axpy_equal_shapes is off)", channels);
}

std::optional<OutputRule> output_rule(const Problem& problem, std::span<const TensorDesc> given,
                                      std::size_t output, const FrameworkRules& rules,
                                      bool is_on_device) {
  const std::string_view op = problem.op->name;
  const std::size_t rank = problem.outputs[output].shape.size();
  if (op == "concat" || op.starts_with("cat_shuffle")) return concat_rule(given, rules);
  if (op.starts_with("conv2d") && !is_on_device) return std::nullopt;
  if (op == "conv2d") return conv_rule(problem, rules);
  if (op == "conv2d_grad_input") return OutputRule{Format::NC1HWC0, "conv2d: dx is NC1HWC0"};
  if (op == "conv2d_grad_weight") {
    const bool is_grouped = problem.attrs.integer("groups") > 1;
    return OutputRule{is_grouped ? Format::NCHW : Format::FRACTAL_Z,
                      "conv2d: the weight's gradient is NCHW where it has groups"};
  }
  if (op == "relu_grad") {
    return OutputRule{given[1].format, "relu_grad: the output follows the forward output"};
  }
  const bool is_alike = !given.empty() && given[0].shape.size() == rank && rank > 0;
  if (!is_alike || problem.op->input(0).has_own_dtype()) return std::nullopt;
  return like(given[0], op);
}

OutputRule wanted_format(const Problem& logical, std::span<const TensorDesc> given,
                         const FrameworkRules& rules, bool is_on_device) {
  const std::string_view op = logical.op->name;
  if (is_on_device && op.starts_with("conv2d")) {
    return {Format::NC1HWC0, fmt::format("{}: the cube unit takes NC1HWC0", op)};
  }
  const bool is_blocked = op.starts_with("batch_norm") || op.starts_with("max_pool2d");
  if (is_on_device && is_blocked && logical.inputs[0].shape.size() == 4) {
    return {Format::NC1HWC0, fmt::format("{}: the device has it in NC1HWC0 only", op)};
  }
  if (is_on_device && (op == "linear" || op == "matmul")) {
    return {Format::FRACTAL_NZ, fmt::format("{}: the cube unit takes FRACTAL_NZ", op)};
  }
  if (op == "relu_grad" && rules.relu_grad_cast && given[0].format == Format::NCHW &&
      given[1].format == Format::NC1HWC0) {
    return {Format::NC1HWC0, "relu_grad: the gradient is cast to the forward output's NC1HWC0"};
  }
  // index_add's first input is zeros, made like the gradient it adds; a scalar has no format.
  std::size_t first = op == "index_add" ? 2 : 0;
  while (first + 1 < given.size() && given[first].shape.empty()) ++first;
  return {given[first].format,
          fmt::format("{}: follows its first input, {}", op, name(given[first].format))};
}

}  // namespace opbench
