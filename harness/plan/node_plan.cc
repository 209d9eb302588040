#include "harness/plan/node_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "ops/elementwise.h"
#include "ops/op.h"

namespace opbench {
namespace {

// Format rules of the framework and its engine: the operator's own (ContextTraits) if it has some,
// else the general ones.

// Empty if the engine computes `problem` in its formats, else the reason: Axpy in private formats
// needs channels in whole blocks, or equal shapes and `axpy_equal_shapes`.
std::string engine_refusal(const Problem& problem, const FrameworkRules& rules) {
  const auto refusal = problem.op->context.engine_refusal;
  return refusal == nullptr ? std::string() : refusal(problem, rules);
}

// Format that the framework gives output `output` of a planned node. None: the format that the
// kernel writes.
std::optional<FormatChoice> output_format(const FormatQuery& query, std::size_t output) {
  const Op& op = *query.problem.op;
  if (op.context.output_format != nullptr) {
    if (auto choice = op.context.output_format(query)) return choice;
  }
  const std::size_t rank = query.problem.outputs[output].shape.size();
  const bool is_alike = rank > 0 && !query.given.empty() && query.given[0].shape.size() == rank;
  if (!is_alike || op.input(0).has_own_dtype()) return std::nullopt;
  return FormatChoice{query.given[0].format,
                      fmt::format("{}: the output follows the first input", op.name)};
}

// Preferred format of a node's inputs.
FormatChoice input_format(const FormatQuery& query) {
  const Op& op = *query.problem.op;
  if (op.context.input_format != nullptr) {
    if (auto choice = op.context.input_format(query)) return *choice;
  }
  // A scalar has no format.
  std::size_t first = op.context.leading_input;
  while (first + 1 < query.given.size() && query.given[first].shape.empty()) ++first;
  const Format format = query.given[first].format;
  return {format, fmt::format("{}: follows its first input, {}", op.name, name(format))};
}

}  // namespace

/// A node in the form that one kernel takes.
struct NodePlanner::Fit {
  const Kernel* kernel = nullptr;
  Problem problem;
  std::string cause;  ///< why inputs in another format are converted
};

// True for tensors without storage that may have any format: zeros, and parameters that the
// framework converts when it loads them.
bool NodePlanner::is_free(const Node& node, Arrival arrival) const {
  if (arrival == Arrival::zeros) return true;
  const auto is_kept = node.problem.op->context.keeps_parameters;
  return arrival == Arrival::parameter && rules_.weight_format_init &&
         (is_kept == nullptr || !is_kept(node.problem.attrs));
}

NodePlan NodePlanner::plan(const NodeUse& use) {
  Fit fit = fit_of(use);
  NodePlan plan;
  plan.kernel = fit.kernel;
  for (std::size_t i = 0; i < use.given.size(); ++i) plan_input(use, i, fit, plan);
  plan.problem = std::move(fit.problem);
  for (std::size_t i = 0; i < plan.problem.outputs.size(); ++i) {
    plan.outputs.push_back(output_path(use, i, plan));
  }
  return plan;
}

std::optional<TensorDesc> NodePlanner::stored_for(const NodeUse& reader, std::size_t input,
                                                  DType dtype) {
  if (!is_free(*reader.node, Arrival::parameter)) return std::nullopt;
  TensorDesc stored = fit_of(reader).problem.inputs[input];
  stored.dtype = dtype;
  return stored;
}

// The first kernel, and its first format, that takes the node.
NodePlanner::Fit NodePlanner::fit_of(const NodeUse& use) {
  const Node& node = *use.node;
  std::string first_reason;
  for (const Kernel* kernel : choice_.candidates(node.problem)) {
    Fit fit{kernel, {}, {}};
    const std::string reason = fit_formats(use, fit);
    if (reason.empty()) return fit;
    if (first_reason.empty()) first_reason = fmt::format("{}: {}", kernel->name, reason);
  }
  throw NoKernel(fmt::format("{}{}{} '{}': no kernel takes it: {}", node.origin,
                             node.origin.empty() ? "" : ": ", node.problem.op->name, node.name,
                             first_reason.empty() ? "none is registered" : first_reason));
}

// Returns an empty string and completes `fit` if the kernel takes the node in some format, else the
// reason why it refuses the preferred format.
std::string NodePlanner::fit_formats(const NodeUse& use, Fit& fit) {
  const Node& node = *use.node;
  const Op& op = *node.problem.op;
  if (op.context.takes_any_storage) {
    fit.problem = make_problem(op, use.given, node.problem.attrs);
    return refusal(*fit.kernel, fit.problem);
  }
  const bool is_on_device = fit.kernel->provider == Provider::npu;
  const FormatChoice wanted = input_format({node.problem, use.given, rules_, is_on_device});
  std::string reason = this->fit(node, *fit.kernel, wanted.format, fit.problem);
  if (reason.empty()) {
    fit.cause = wanted.why;
    return {};
  }
  for (const Format format : op.formats) {
    if (format == wanted.format || !this->fit(node, *fit.kernel, format, fit.problem).empty()) {
      continue;
    }
    fit.cause = reason;
    return {};
  }
  return reason;
}

std::string NodePlanner::fit(const Node& node, const Kernel& kernel, Format format,
                             Problem& fitted) {
  const Op& op = *node.problem.op;
  if (std::find(op.formats.begin(), op.formats.end(), format) == op.formats.end()) {
    return fmt::format("{}: {} does not take {}", op.name, kernel.name, name(format));
  }
  try {
    fitted = make_problem(op, inputs_in(node, format, kernel), node.problem.attrs);
  } catch (const Error& error) {
    return error.what();
  }
  const std::string refused = engine_refusal(fitted, rules_);
  return refused.empty() ? refusal(kernel, fitted) : refused;
}

std::vector<TensorDesc> NodePlanner::inputs_in(const Node& node, Format format,
                                               const Kernel& kernel) const {
  const Op& op = *node.problem.op;
  std::vector<Dims> shapes;
  std::vector<std::optional<DType>> dtypes;
  DType dtype = DType::fp32;
  for (std::size_t i = node.problem.inputs.size(); i-- > 0;) {
    const bool is_own = op.input(i).has_own_dtype();
    if (!is_own) dtype = node.problem.inputs[i].dtype;
  }
  const bool is_mixed = has_mixed_dtypes(op, node.problem.inputs);
  if (is_mixed) dtype = promoted(node.problem.inputs);
  if (is_narrowed(node, kernel)) dtype = DType::fp16;
  for (std::size_t i = 0; i < node.problem.inputs.size(); ++i) {
    const bool is_kept = op.input(i).has_own_dtype() || (is_mixed && kernel.promotes);
    shapes.push_back(node.problem.inputs[i].shape);
    dtypes.push_back(is_kept ? node.problem.inputs[i].dtype : dtype);
  }
  return describe_inputs(op, shapes, dtype, format, node.problem.attrs, dtypes);
}

// Cube operators of the device support fp16 only. The engine casts around them.
bool NodePlanner::is_narrowed(const Node& node, const Kernel& kernel) const {
  return rules_.allow_fp32_to_fp16 && kernel.provider == Provider::npu &&
         node.problem.op->context.uses_cube && node.problem.inputs[0].dtype == DType::fp32;
}

void NodePlanner::plan_input(const NodeUse& use, std::size_t i, const Fit& fit, NodePlan& plan) {
  const Node& node = *use.node;
  const TensorDesc& wanted = fit.problem.inputs[i];
  // A tensor that is read twice has the storage of its first use.
  const auto begin = node.inputs.begin(), here = begin + std::ptrdiff_t(i);
  const auto first = std::size_t(std::find(begin, here, node.inputs[i]) - begin);
  TensorDesc stored = first < i ? plan.stored[first] : use.given[i];
  if (first == i && is_free(node, use.arrivals[i])) {
    stored = wanted;
    stored.dtype = use.given[i].dtype;
  }
  const bool is_own = wanted.format != fit.problem.inputs[0].format;
  const std::string cause = is_own
                                ? fmt::format("{}: takes '{}' as {}", node.problem.op->name,
                                              node.problem.op->input_name(i), name(wanted.format))
                                : fit.cause;
  plan.inputs.push_back(paths_.convert(stored, wanted, node, cause));
  plan.stored.push_back(std::move(stored));
}

// Converts to the dtype of the values and to the format that the framework gives the output.
ConversionPath NodePlanner::output_path(const NodeUse& use, std::size_t i, const NodePlan& plan) {
  if (!use.read_as[i]) return {};
  ConversionPath path;
  if (plan.problem.outputs[i].dtype != *use.read_as[i]) {
    path.push_back(paths_.cast(plan.problem.outputs[i], *use.read_as[i], *use.node));
  }
  const bool is_on_device = plan.kernel->provider == Provider::npu;
  const auto choice = output_format({plan.problem, use.given, rules_, is_on_device}, i);
  if (!choice) return path;
  const TensorDesc desc = path.empty() ? plan.problem.outputs[i] : path.back().result();
  TensorDesc wanted;
  try {
    wanted = describe(desc.dtype, desc.shape, format_for_rank(choice->format, desc.shape.size()));
  } catch (const Error&) {
    return path;  // the format does not support the output's rank
  }
  wanted.groups = desc.groups;
  if (wanted.format == desc.format) return path;
  for (PlannedConversion& step : paths_.trans_data(desc, wanted, *use.node, choice->why)) {
    path.push_back(std::move(step));
  }
  return path;
}

}  // namespace opbench
