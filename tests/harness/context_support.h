#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/context_plan.h"
#include "tensor/error.h"

namespace opbench {

/// Builds contexts in C++, for tests of the stages after the reader.
class ContextBuilder {
 public:
  explicit ContextBuilder(std::string name) { context_.name = std::move(name); }

  ContextBuilder& input(const std::string& name, Dims shape,
                        std::optional<Format> format = std::nullopt) {
    graph_.inputs.push_back({name, std::move(shape), {}, format, {}, ""});
    return *this;
  }
  ContextBuilder& parameter(const std::string& name, Dims shape) {
    graph_.parameters.push_back({name, std::move(shape), {}, {}, {}, ""});
    return *this;
  }
  ContextBuilder& node(const std::string& op, std::vector<std::string> in,
                       std::vector<std::string> out,
                       const std::vector<std::pair<std::string, std::string>>& attrs = {}) {
    ContextNode node;
    node.op = &find_op(op);
    node.name = op + std::to_string(graph_.nodes.size());
    node.inputs = std::move(in);
    node.outputs = std::move(out);
    node.attrs = Attrs(node.op->attrs);
    for (const auto& [key, value] : attrs) node.attrs.set(node.op->attrs, key, value);
    graph_.nodes.push_back(std::move(node));
    return *this;
  }
  ContextBuilder& output(const std::string& name) {
    graph_.outputs.push_back(name);
    return *this;
  }

  Context& context() { return context_; }
  /// A step that runs the present graph.
  ContextStep step() const {
    ContextStep step;
    step.name = "step";
    step.graph = std::make_shared<ContextGraph>(graph_);
    return step;
  }
  PlannedStep plan(const ContextStep& chosen, DType dtype = DType::fp32) const {
    return plan_step(context_, chosen, dtype);
  }

 private:
  Context context_;
  ContextGraph graph_;
};

/// The types of a step's tasks, with the formats that TransData produces: "conv2d", "relu",
/// ">NCHW", "concat", ">NC1HWC0".
inline std::vector<std::string> chain_of(const PlannedStep& step) {
  std::vector<std::string> chain;
  for (const Node& node : step.graph.nodes) {
    const bool is_conversion = node.problem.op->name == "trans_data";
    chain.push_back(is_conversion ? ">" + std::string(name(node.problem.outputs[0].format))
                                  : std::string(node.problem.op->name));
  }
  return chain;
}

}  // namespace opbench
