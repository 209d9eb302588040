#include "harness/plan/lowering.h"

#include <fmt/format.h>

#include <algorithm>

namespace opbench {
namespace {

class Lowering {
 public:
  Lowering(const LogicalGraph& logical, const Variants& variants, const FrameworkRules& rules)
      : logical_(logical), variants_(variants), rules_(rules) {
    result_.graph.tensors = logical.graph.tensors;
    result_.results = logical.results;
    result_.arriving = logical.arriving;
  }

  LogicalGraph run() {
    for (const Node& node : logical_.graph.nodes) lower(node);
    return std::move(result_);
  }

 private:
  void lower(const Node& node) {
    const ContextTraits& traits = node.problem.op->context;
    const std::string form = form_of(*node.problem.op);
    if (std::find(traits.forms.begin(), traits.forms.end(), form) == traits.forms.end()) {
      result_.graph.nodes.push_back(node);
      return;
    }
    base_ = &node;
    first_results_.clear();
    const std::vector<ComposedCall> calls = traits.compose(node.problem, form);
    const bool is_shared = std::any_of(calls.begin(), calls.end(), [](const ComposedCall& call) {
      return call.shares_conversions;
    });
    if (is_shared) ++shared_;
    for (const ComposedCall& call : calls) append(call);
  }

  std::string form_of(const Op& op) const {
    if (const auto found = variants_.find(std::string(op.name)); found != variants_.end()) {
      return found->second.front();
    }
    if (op.context.variant_of.empty()) return "native";
    return form_of(find_op(op.context.variant_of));
  }

  // Appends a call of the expansion of the composite operator `base_`. Its first output is an
  // intermediate tensor, or an output of the operator.
  void append(const ComposedCall& call) {
    std::vector<std::size_t> inputs;
    for (const ComposedArg& arg : call.args) inputs.push_back(tensor_of(arg, call.name));
    Node& node = add(find_op(call.op), std::move(inputs), call.attrs, call.name);
    if (call.shares_conversions) node.shares_conversions = shared_;
    if (call.output) {
      result_.graph.tensors.pop_back();  // the tensor that add_node made for it
      node.outputs[0] = base_->outputs[*call.output];
    }
    first_results_.push_back(node.outputs[0]);
  }

  Node& add(const Op& op, std::vector<std::size_t> inputs, Attrs attrs, const std::string& suffix) {
    Graph& graph = result_.graph;
    const std::string prefix = name(suffix) + ".";
    Node& node = graph.nodes[add_node(graph, op, std::move(inputs), std::move(attrs), prefix)];
    node.name = name(suffix);
    node.origin = base_->origin;
    node.under_test = base_->under_test;
    return node;
  }

  std::size_t tensor_of(const ComposedArg& arg, const std::string& user) {
    if (arg.source == ComposedArg::constant) return index_of(arg.index, user);
    const std::size_t tensor =
        arg.source == ComposedArg::input ? base_->inputs[arg.number] : first_results_[arg.number];
    if (!arg.as_zeros) return tensor;
    return add_tensor(result_.graph, name("zeros"), result_.graph.tensors[tensor].desc,
                      GraphTensor::zeros);
  }

  std::size_t index_of(const std::vector<std::int64_t>& index, const std::string& user) {
    const bool is_cached = rules_.index == FrameworkRules::Index::cached;
    const TensorDesc desc = describe(is_cached ? DType::int32 : DType::int64, {std::ssize(index)});
    const std::size_t added =
        add_tensor(result_.graph, name(user + ".index"), desc, GraphTensor::constant);
    result_.graph.tensors[added].index = index;
    if (is_cached) return added;
    const Op& cast = find_op("cast");
    Attrs attrs(cast.attrs);
    attrs.put("to", std::string("int32"));
    Node& node = add(cast, {added}, std::move(attrs), user + ".index.cast");
    node.cause = fmt::format("{}: int64 index made for every call (index is generated)",
                             base_->problem.op->name);
    return node.outputs[0];
  }

  std::string name(const std::string& suffix) const {
    return fmt::format("{}.{}", base_->name.empty() ? base_->problem.op->name : base_->name,
                       suffix);
  }

  const LogicalGraph& logical_;
  const Variants& variants_;
  const FrameworkRules& rules_;
  LogicalGraph result_;
  const Node* base_ = nullptr;              // the composite operator that is being expanded
  std::vector<std::size_t> first_results_;  // the first outputs of its calls so far
  int shared_ = 0;
};

}  // namespace

LogicalGraph lower(const LogicalGraph& logical, const Variants& variants,
                   const FrameworkRules& rules) {
  return Lowering(logical, variants, rules).run();
}

}  // namespace opbench
