#include "harness/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "tensor/error.h"

namespace opbench {
namespace {

std::size_t add_tensor(Graph& graph, std::string name, TensorDesc desc, GraphTensor::Role role) {
  graph.tensors.push_back({std::move(name), std::move(desc), role});
  return graph.tensors.size() - 1;
}

// Appends a call and its outputs; returns its position.
std::size_t add_node(Graph& graph, const Op& op, std::vector<std::size_t> inputs, Attrs attrs,
                     const std::string& prefix) {
  std::vector<TensorDesc> descs;
  for (const std::size_t input : inputs) descs.push_back(graph.tensors[input].desc);
  Node node{make_problem(op, std::move(descs), std::move(attrs)), std::move(inputs), {}, false};
  for (std::size_t i = 0; i < node.problem.outputs.size(); ++i) {
    node.outputs.push_back(add_tensor(graph, prefix + std::string(op.outputs[i].name),
                                      node.problem.outputs[i], GraphTensor::intermediate));
  }
  graph.nodes.push_back(std::move(node));
  return graph.nodes.size() - 1;
}

/// Reverse-mode differentiation: walks the nodes backwards and appends the gradient calls.
class Differentiation {
 public:
  Differentiation(Graph& graph, std::size_t loss) : graph_(graph) {
    gradient_of_[loss] =
        add_tensor(graph_, "grad_loss", graph_.tensors[loss].desc, GraphTensor::gradient_seed);
  }

  void run() {
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) differentiate(i);
  }

 private:
  void differentiate(std::size_t index) {
    // Copied: appending nodes moves the originals.
    const Node node = graph_.nodes[index];
    if (!reached(node)) return;
    if (node.problem.op->gradient.empty()) {
      throw Error(fmt::format("{} has no gradient, so it cannot run with --backward",
                              node.problem.op->name));
    }
    for (const GradientRule& rule : node.problem.op->gradient) apply(rule, node);
  }

  bool reached(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](std::size_t output) { return gradient_of_.contains(output); });
  }

  void apply(const GradientRule& rule, const Node& node) {
    const std::size_t differentiated = node.inputs[rule.input];
    if (gradient_of_.contains(differentiated)) {
      throw Error(fmt::format("tensor '{}' is used twice; adding its gradients needs operator add",
                              graph_.tensors[differentiated].name));
    }
    std::vector<std::size_t> args;
    for (const GradientArg& arg : rule.args) args.push_back(argument(arg, node));
    const Op& op = find_op(rule.op);
    const std::size_t call =
        add_node(graph_, op, std::move(args), node.problem.attrs.restricted_to(op.attrs), "");
    graph_.nodes[call].under_test = node.under_test;
    const std::size_t result = graph_.nodes[call].outputs[0];
    graph_.tensors[result].name = "grad_" + graph_.tensors[differentiated].name;
    gradient_of_[differentiated] = result;
  }

  std::size_t argument(const GradientArg& arg, const Node& node) const {
    switch (arg.source) {
      case GradientArg::output_gradient:
        return gradient_of_.at(node.outputs[arg.index]);
      case GradientArg::input:
        return node.inputs[arg.index];
      case GradientArg::output:
        return node.outputs[arg.index];
    }
    throw std::logic_error("unknown gradient argument");
  }

  Graph& graph_;
  std::map<std::size_t, std::size_t> gradient_of_;  // tensor -> its gradient
};

void add_backward(Graph& graph) {
  const std::size_t result = graph.nodes[0].outputs[0];
  const Op& mean = find_op("mean");
  const std::size_t loss_node = add_node(graph, mean, {result}, Attrs(mean.attrs), "loss_");
  const std::size_t loss = graph.nodes[loss_node].outputs[0];
  graph.tensors[loss].name = "loss";
  graph.tensors[loss].role = GraphTensor::output;
  Differentiation(graph, loss).run();
}

// What nobody reads is a result.
void mark_outputs(Graph& graph) {
  std::vector<bool> is_read(graph.tensors.size());
  for (const Node& node : graph.nodes) {
    for (const std::size_t input : node.inputs) is_read[input] = true;
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    GraphTensor& tensor = graph.tensors[i];
    if (!is_read[i] && tensor.role == GraphTensor::intermediate) tensor.role = GraphTensor::output;
  }
}

const Kernel* kernel_for(const Node& node, const Kernel& wanted) {
  const std::vector<const Kernel*> kernels = kernels_of(node.problem.op->name);
  const auto first = [&](auto&& fits) -> const Kernel* {
    const auto found = std::find_if(kernels.begin(), kernels.end(), fits);
    return found == kernels.end() ? nullptr : *found;
  };
  if (node.problem.op->name == wanted.op) return &wanted;
  const Kernel* same_family =
      first([&](const Kernel* k) { return k->family_name() == wanted.family_name(); });
  if (same_family != nullptr || node.under_test) return same_family;
  const Kernel* same_provider = first([&](const Kernel* k) {
    return k->provider == wanted.provider && refusal(*k, node.problem).empty();
  });
  return same_provider != nullptr
             ? same_provider
             : first([](const Kernel* k) { return k->provider == Provider::framework; });
}

}  // namespace

Traffic Graph::traffic() const {
  Traffic sum;
  for (const Node& node : nodes) {
    const Traffic traffic = node.problem.op->traffic(node.problem);
    sum.bytes_read += traffic.bytes_read;
    sum.bytes_written += traffic.bytes_written;
    sum.operations += traffic.operations;
  }
  return sum;
}

std::size_t Graph::memory_bytes() const {
  std::size_t bytes = 0;
  for (const GraphTensor& tensor : tensors) bytes += tensor.desc.bytes();
  return bytes;
}

bool Graph::mixes_elements() const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return node.problem.op->mixes_elements; });
}

Graph build_graph(const Case& c) {
  Graph graph;
  const Problem problem = problem_of(c);
  try {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      inputs.push_back(add_tensor(graph, std::string(c.op->inputs[i].name), problem.inputs[i],
                                  GraphTensor::input));
    }
    graph.nodes[add_node(graph, *c.op, std::move(inputs), c.attrs, "")].under_test = true;
    if (c.backward) add_backward(graph);
    mark_outputs(graph);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", c.origin, error.what()));
  }
  return graph;
}

bool Selection::takes_nonfinite() const {
  return std::all_of(kernels.begin(), kernels.end(),
                     [](const Kernel* kernel) { return kernel->takes_nonfinite; });
}

std::string Selection::kernel_names() const {
  std::vector<std::string_view> names;
  for (const Kernel* kernel : kernels) names.push_back(kernel->name);
  return fmt::format("{}", fmt::join(names, "+"));
}

Selection select_kernels(const Graph& graph, const Kernel& kernel) {
  Selection selection{std::string(kernel.name), {}, {}};
  for (const Node& node : graph.nodes) {
    const Kernel* chosen = kernel_for(node, kernel);
    if (chosen == nullptr) {
      selection.refusal = fmt::format("{} has no variant of the family '{}'", node.problem.op->name,
                                      kernel.family_name());
      return selection;
    }
    selection.kernels.push_back(chosen);
    const std::string reason = refusal(*chosen, node.problem);
    if (!reason.empty()) {
      selection.refusal = reason;
      return selection;
    }
  }
  return selection;
}

}  // namespace opbench
