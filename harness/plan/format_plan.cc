#include "harness/plan/format_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/conversions.h"
#include "harness/plan/framework_rules.h"
#include "harness/plan/kernel_choice.h"
#include "ops/promotion.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// A node as one kernel takes it.
struct Fit {
  const Kernel* kernel = nullptr;
  Problem problem;
  std::string cause;  ///< why inputs in another format are converted
};

class FormatPlanner {
 public:
  FormatPlanner(const LogicalGraph& logical, const Variants& variants, const FrameworkRules& rules)
      : logical_(logical), rules_(rules), choice_(variants, rules) {}

  PhysicalGraph plan() {
    physical_.assign(logical_.graph.tensors.size(), Node::kNone);
    find_readers();
    for (const auto& [tensor, format] : logical_.arriving) arrive(tensor, format);
    for (const Node& node : logical_.graph.nodes) plan(node);
    for (const std::size_t tensor : logical_.results) {
      result_.results.push_back(physical(tensor));
      GraphTensor& kept = graph().tensors[physical(tensor)];
      if (kept.role == GraphTensor::intermediate) kept.role = GraphTensor::output;
    }
    result_.selection.kernels = std::move(kernels_);
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.graph; }

  void find_readers() {
    is_read_.assign(logical_.graph.tensors.size(), false);
    first_reader_.assign(logical_.graph.tensors.size(), {nullptr, 0});
    for (const Node& node : logical_.graph.nodes) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (!is_read_[node.inputs[i]]) first_reader_[node.inputs[i]] = {&node, i};
        is_read_[node.inputs[i]] = true;
      }
    }
    for (const std::size_t tensor : logical_.results) is_read_[tensor] = true;
  }

  void arrive(std::size_t tensor, Format format) {
    const GraphTensor& given = logical_.graph.tensors[tensor];
    materialise(tensor, describe(given.desc.dtype, given.desc.shape, format));
  }

  // The tensor as it is given, stored as `desc`.
  std::size_t materialise(std::size_t tensor, TensorDesc desc) {
    GraphTensor given = logical_.graph.tensors[tensor];
    given.desc = std::move(desc);
    graph().tensors.push_back(std::move(given));
    return physical_[tensor] = graph().tensors.size() - 1;
  }

  std::size_t physical(std::size_t tensor) {
    if (physical_[tensor] != Node::kNone) return physical_[tensor];
    return materialise(tensor, logical_.graph.tensors[tensor].desc);
  }

  // Tensors that nobody has stored yet can be had in any format: zeros, and parameters that the
  // framework casts when it loads them.
  bool is_free(const Node& node, std::size_t tensor) const {
    if (physical_[tensor] != Node::kNone) return false;
    const GraphTensor::Role role = logical_.graph.tensors[tensor].role;
    if (role == GraphTensor::zeros) return true;
    const auto is_kept = node.problem.op->context.keeps_parameters;
    return role == GraphTensor::parameter && rules_.weight_format_init &&
           (is_kept == nullptr || !is_kept(node.problem.attrs));
  }

  std::vector<TensorDesc> given_to(const Node& node) const {
    std::vector<TensorDesc> given;
    for (const std::size_t input : node.inputs) {
      given.push_back(physical_[input] == Node::kNone
                          ? logical_.graph.tensors[input].desc
                          : result_.graph.tensors[physical_[input]].desc);
    }
    return given;
  }

  // A parameter that is cast first is stored as the reader of the cast takes it.
  void store_for_reader_of(const Node& cast) {
    const std::size_t parameter = cast.inputs[0];
    const auto [reader, input] = first_reader_[cast.outputs[0]];
    if (reader == nullptr || !is_free(*reader, parameter)) return;
    TensorDesc stored = fit_of(*reader, given_to(*reader)).problem.inputs[input];
    stored.dtype = logical_.graph.tensors[parameter].desc.dtype;
    materialise(parameter, std::move(stored));
  }

  void plan(const Node& node) {
    if (node.problem.op->context.conversion == Conversion::dtype) store_for_reader_of(node);
    const std::vector<TensorDesc> given = given_to(node);
    Fit fit = fit_of(node, given);
    Node call;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      call.inputs.push_back(input(node, i, fit));
    }
    call.name = node.name;
    call.origin = node.origin;
    call.cause = node.cause;
    call.under_test = node.under_test;
    call.unless = node.unless == Node::kNone ? Node::kNone : physical(node.unless);
    for (std::size_t i = 0; i < fit.problem.outputs.size(); ++i) {
      const GraphTensor& wanted = logical_.graph.tensors[node.outputs[i]];
      call.outputs.push_back(
          add_tensor(graph(), wanted.name, fit.problem.outputs[i], GraphTensor::intermediate));
    }
    call.problem = std::move(fit.problem);
    append(std::move(call), fit.kernel);
    const std::size_t added = graph().nodes.size() - 1;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) output(node, added, i, given);
  }

  void append(Node node, const Kernel* kernel) {
    graph().nodes.push_back(std::move(node));
    kernels_.push_back(kernel);
  }

  // The first kernel, and its first format, that takes the node.
  Fit fit_of(const Node& node, std::span<const TensorDesc> given) {
    std::string first_reason;
    for (const Kernel* kernel : choice_.candidates(node.problem)) {
      Fit fit{kernel, {}, {}};
      const std::string reason = fit_formats(node, given, fit);
      if (reason.empty()) return fit;
      if (first_reason.empty()) first_reason = fmt::format("{}: {}", kernel->name, reason);
    }
    throw NoKernel(fmt::format("{}{}{} '{}': no kernel takes it: {}", node.origin,
                               node.origin.empty() ? "" : ": ", node.problem.op->name, node.name,
                               first_reason.empty() ? "none is registered" : first_reason));
  }

  // Empty and `fit` complete if the kernel takes the node in some format, else why not in the one
  // that is wanted.
  std::string fit_formats(const Node& node, std::span<const TensorDesc> given, Fit& fit) {
    const bool is_on_device = fit.kernel->provider == Provider::npu;
    if (node.problem.op->context.takes_any_storage) return fit_as_given(node, given, fit);
    const FormatChoice wanted = input_format({node.problem, given, rules_, is_on_device});
    std::string reason = fit_format(node, wanted.format, fit);
    if (reason.empty()) {
      fit.cause = wanted.why;
      return {};
    }
    for (const Format format : node.problem.op->formats) {
      if (format == wanted.format || !fit_format(node, format, fit).empty()) continue;
      fit.cause = reason;
      return {};
    }
    return reason;
  }

  static std::string fit_as_given(const Node& node, std::span<const TensorDesc> given, Fit& fit) {
    const std::vector<TensorDesc> inputs(given.begin(), given.end());
    fit.problem = make_problem(*node.problem.op, inputs, node.problem.attrs);
    return refusal(*fit.kernel, fit.problem);
  }

  std::string fit_format(const Node& node, Format format, Fit& fit) {
    const Op& op = *node.problem.op;
    if (std::find(op.formats.begin(), op.formats.end(), format) == op.formats.end()) {
      return fmt::format("{}: {} does not take {}", op.name, fit.kernel->name, name(format));
    }
    try {
      fit.problem = make_problem(op, inputs_in(node, format, fit), node.problem.attrs);
    } catch (const Error& error) {
      return error.what();
    }
    const std::string refused = engine_refusal(fit.problem, rules_);
    return refused.empty() ? refusal(*fit.kernel, fit.problem) : refused;
  }

  std::vector<TensorDesc> inputs_in(const Node& node, Format format, const Fit& fit) const {
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
    if (is_narrowed(node, *fit.kernel)) dtype = DType::fp16;
    for (std::size_t i = 0; i < node.problem.inputs.size(); ++i) {
      const bool is_kept = op.input(i).has_own_dtype() || (is_mixed && fit.kernel->promotes);
      shapes.push_back(node.problem.inputs[i].shape);
      dtypes.push_back(is_kept ? node.problem.inputs[i].dtype : dtype);
    }
    return describe_inputs(op, shapes, dtype, format, node.problem.attrs, dtypes);
  }

  // Cube operators of the device have fp16 only: the engine casts around them.
  bool is_narrowed(const Node& node, const Kernel& kernel) const {
    return rules_.allow_fp32_to_fp16 && kernel.provider == Provider::npu &&
           node.problem.op->context.uses_cube && node.problem.inputs[0].dtype == DType::fp32;
  }

  std::size_t input(const Node& node, std::size_t i, const Fit& fit) {
    const std::size_t tensor = node.inputs[i];
    const TensorDesc& wanted = fit.problem.inputs[i];
    if (is_free(node, tensor)) {
      TensorDesc stored = wanted;
      stored.dtype = logical_.graph.tensors[tensor].desc.dtype;
      materialise(tensor, std::move(stored));
    }
    const bool is_own = wanted.format != fit.problem.inputs[0].format;
    return conversions_.convert(
        physical(tensor), wanted, node,
        is_own ? fmt::format("{}: takes '{}' as {}", node.problem.op->name,
                             node.problem.op->input_name(i), name(wanted.format))
               : fit.cause);
  }

  // Back to the dtype of the values and to the format that the framework gives the output.
  void output(const Node& node, std::size_t added, std::size_t i,
              std::span<const TensorDesc> given) {
    const std::size_t tensor = node.outputs[i];
    std::size_t result = graph().nodes[added].outputs[i];
    if (is_read_[tensor]) {
      const DType dtype = logical_.graph.tensors[tensor].desc.dtype;
      if (graph().tensors[result].desc.dtype != dtype)
        result = conversions_.cast(result, dtype, node);
      const bool is_on_device = kernels_[added]->provider == Provider::npu;
      const auto choice =
          output_format({graph().nodes[added].problem, given, rules_, is_on_device}, i);
      if (choice) result = store_as(result, *choice, node);
    }
    physical_[tensor] = result;
    graph().tensors[result].name = logical_.graph.tensors[tensor].name;
  }

  std::size_t store_as(std::size_t tensor, const FormatChoice& choice, const Node& node) {
    const TensorDesc& desc = graph().tensors[tensor].desc;
    TensorDesc wanted;
    try {
      wanted = describe(desc.dtype, desc.shape, format_for_rank(choice.format, desc.shape.size()));
    } catch (const Error&) {
      return tensor;  // the format does not fit the output's rank
    }
    wanted.groups = desc.groups;
    if (wanted.format == desc.format) return tensor;
    return conversions_.trans_data(tensor, wanted, node, choice.why);
  }

  const LogicalGraph& logical_;
  const FrameworkRules& rules_;
  KernelChoice choice_;
  PhysicalGraph result_;
  std::vector<const Kernel*> kernels_;
  std::vector<std::size_t> physical_;  // of a logical tensor; kNone: not stored yet
  std::vector<bool> is_read_;
  std::vector<std::pair<const Node*, std::size_t>> first_reader_;  // of each tensor, as which input
  Conversions conversions_{result_.graph, kernels_, choice_, rules_};
};

}  // namespace

PhysicalGraph plan_formats(const LogicalGraph& logical, const Variants& variants,
                           const FrameworkRules& rules) {
  return FormatPlanner(logical, variants, rules).plan();
}

}  // namespace opbench
