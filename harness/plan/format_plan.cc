#include "harness/plan/format_plan.h"

#include "harness/plan/conversions.h"

namespace opbench {
namespace {

/// Plans the nodes in order and builds the planned graph.
class FormatPlanner {
 public:
  FormatPlanner(const LogicalGraph& logical, const Variants& variants, const FrameworkRules& rules)
      : logical_(logical),
        readers_(logical),
        planner_(variants, rules),
        conversions_(result_.graph, kernels_, rules) {}

  PhysicalGraph plan() {
    physical_.assign(logical_.graph.tensors.size(), Node::kNone);
    for (const auto& [tensor, format] : logical_.arriving) arrive(tensor, format);
    for (const Node& node : logical_.graph.nodes) plan(node);
    for (const auto& [name, tensor] : logical_.results) {
      result_.results.push_back({name, physical(tensor)});
      GraphTensor& kept = graph().tensors[physical(tensor)];
      if (kept.role == GraphTensor::intermediate) kept.role = GraphTensor::output;
    }
    result_.selection.kernels = std::move(kernels_);
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.graph; }

  void arrive(std::size_t tensor, Format format) {
    const GraphTensor& given = logical_.graph.tensors[tensor];
    materialise(tensor, describe(given.desc.dtype, given.desc.shape, format));
  }

  // Adds the given tensor, stored as `desc`.
  std::size_t materialise(std::size_t tensor, TensorDesc desc) {
    GraphTensor given = logical_.graph.tensors[tensor];
    given.desc = std::move(desc);
    graph().tensors.push_back(std::move(given));
    return physical_[tensor] = graph().tensors.size() - 1;
  }

  bool is_stored(std::size_t tensor) const { return physical_[tensor] != Node::kNone; }

  std::size_t physical(std::size_t tensor) {
    if (is_stored(tensor)) return physical_[tensor];
    return materialise(tensor, logical_.graph.tensors[tensor].desc);
  }

  NodeUse use_of(const Node& node) const {
    NodeUse use{&node, {}, {}, readers_.dtypes_of(logical_, node)};
    for (const std::size_t input : node.inputs) {
      const GraphTensor& given = logical_.graph.tensors[input];
      use.given.push_back(is_stored(input) ? result_.graph.tensors[physical_[input]].desc
                                           : given.desc);
      use.arrivals.push_back(is_stored(input) ? Arrival::stored : arrival_of(given));
    }
    return use;
  }

  // A parameter that is cast first is stored in the format of the cast's reader.
  void store_for_reader_of(const Node& cast) {
    const std::size_t parameter = cast.inputs[0];
    const auto [reader, input] = readers_.first[cast.outputs[0]];
    const GraphTensor& given = logical_.graph.tensors[parameter];
    if (reader == nullptr || is_stored(parameter) || given.role != GraphTensor::parameter) return;
    std::optional<TensorDesc> stored =
        planner_.stored_for(use_of(*reader), input, given.desc.dtype);
    if (stored) materialise(parameter, std::move(*stored));
  }

  void plan(const Node& node) {
    if (node.problem.op->context.conversion == Conversion::dtype) store_for_reader_of(node);
    NodePlan planned = planner_.plan(use_of(node));
    Node call;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::size_t tensor = node.inputs[i];
      if (!is_stored(tensor)) materialise(tensor, std::move(planned.stored[i]));
      call.inputs.push_back(conversions_.before(node, physical_[tensor], planned.inputs[i]));
    }
    call.name = node.name;
    call.origin = node.origin;
    call.cause = node.cause;
    call.under_test = node.under_test;
    call.unless = node.unless == Node::kNone ? Node::kNone : physical(node.unless);
    for (std::size_t i = 0; i < planned.problem.outputs.size(); ++i) {
      const GraphTensor& wanted = logical_.graph.tensors[node.outputs[i]];
      call.outputs.push_back(
          add_tensor(graph(), wanted.name, planned.problem.outputs[i], GraphTensor::intermediate));
    }
    const std::vector<std::size_t> written = call.outputs;
    call.problem = std::move(planned.problem);
    graph().nodes.push_back(std::move(call));
    kernels_.push_back(planned.kernel);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::size_t result = conversions_.after(node, written[i], planned.outputs[i]);
      physical_[node.outputs[i]] = result;
      graph().tensors[result].name = logical_.graph.tensors[node.outputs[i]].name;
    }
  }

  const LogicalGraph& logical_;
  const Readers readers_;
  NodePlanner planner_;
  PhysicalGraph result_;
  std::vector<const Kernel*> kernels_;
  std::vector<std::size_t> physical_;  // of a logical tensor; kNone: not stored yet
  ConversionInsertion conversions_;
};

}  // namespace

Readers::Readers(const LogicalGraph& logical)
    : is_read(logical.graph.tensors.size()), first(logical.graph.tensors.size(), {nullptr, 0}) {
  for (const Node& node : logical.graph.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_read[node.inputs[i]]) first[node.inputs[i]] = {&node, i};
      is_read[node.inputs[i]] = true;
    }
  }
  for (const GraphResult& result : logical.results) is_read[result.tensor] = true;
}

std::vector<std::optional<DType>> Readers::dtypes_of(const LogicalGraph& logical,
                                                     const Node& node) const {
  std::vector<std::optional<DType>> dtypes(node.outputs.size());
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const std::size_t output = node.outputs[i];
    if (is_read[output]) dtypes[i] = logical.graph.tensors[output].desc.dtype;
  }
  return dtypes;
}

Arrival arrival_of(const GraphTensor& tensor) {
  if (tensor.role == GraphTensor::zeros) return Arrival::zeros;
  return tensor.role == GraphTensor::parameter ? Arrival::parameter : Arrival::stored;
}

PhysicalGraph plan_formats(const LogicalGraph& logical, const Variants& variants,
                           const FrameworkRules& rules) {
  return FormatPlanner(logical, variants, rules).plan();
}

}  // namespace opbench
