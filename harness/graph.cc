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
    node.outputs.push_back(add_tensor(graph, prefix + op.output_name(node.problem, i),
                                      node.problem.outputs[i], GraphTensor::intermediate));
  }
  graph.nodes.push_back(std::move(node));
  return graph.nodes.size() - 1;
}

/// Reverse-mode differentiation: walks the nodes backwards and appends the gradient calls.
class Differentiation {
 public:
  Differentiation(Graph& graph, const std::vector<std::size_t>& losses) : graph_(graph) {
    for (const std::size_t loss : losses) {
      gradient_of_[loss] = add_tensor(graph_, "grad_" + graph_.tensors[loss].name,
                                      graph_.tensors[loss].desc, GraphTensor::gradient_seed);
    }
  }

  void run() {
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) differentiate(i);
  }

 private:
  void differentiate(std::size_t index) {
    // Copied: appending nodes moves the originals.
    const Node node = graph_.nodes[index];
    if (!reached(node)) return;
    if (node.problem.op->gradient == nullptr) {
      throw Error(fmt::format("{} has no gradient, so it cannot run with --backward",
                              node.problem.op->name));
    }
    for (const GradientCall& call : node.problem.op->gradient(node.problem)) apply(call, node);
  }

  bool reached(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](std::size_t output) { return gradient_of_.contains(output); });
  }

  void apply(const GradientCall& call, const Node& node) {
    std::vector<std::size_t> args;
    for (const GradientArg& arg : call.args) args.push_back(argument(arg, node));
    if (call.op.empty()) return set_gradient(node.inputs[call.of_inputs.front()], args.front());
    const Op& op = find_op(call.op);
    Attrs attrs = call.attrs.empty() ? node.problem.attrs.restricted_to(op.attrs) : call.attrs;
    const std::size_t added = add_node(graph_, op, std::move(args), std::move(attrs), "");
    graph_.nodes[added].under_test = node.under_test;
    for (std::size_t i = 0; i < call.of_inputs.size(); ++i) {
      const std::size_t differentiated = node.inputs[call.of_inputs[i]];
      const std::size_t result = graph_.nodes[added].outputs[i];
      graph_.tensors[result].name = "grad_" + graph_.tensors[differentiated].name;
      set_gradient(differentiated, result);
    }
  }

  void set_gradient(std::size_t tensor, std::size_t gradient) {
    if (!gradient_of_.emplace(tensor, gradient).second) {
      throw Error(fmt::format("tensor '{}' is used twice; adding its gradients needs operator add",
                              graph_.tensors[tensor].name));
    }
  }

  std::size_t argument(const GradientArg& arg, const Node& node) {
    switch (arg.source) {
      case GradientArg::output_gradient:
        return gradient_of_.at(node.outputs[arg.index]);
      case GradientArg::input:
        return node.inputs[arg.index];
      case GradientArg::output:
        return node.outputs[arg.index];
      case GradientArg::zeros_like_input:
        return add_tensor(graph_, "zeros", node.problem.inputs[arg.index], GraphTensor::zeros);
    }
    throw std::logic_error("unknown gradient argument");
  }

  Graph& graph_;
  std::map<std::size_t, std::size_t> gradient_of_;  // tensor -> its gradient
};

// "loss", or one for every output: "loss_y0", "loss_y1".
std::size_t add_loss(Graph& graph, std::size_t output, bool is_only) {
  const Op& mean = find_op("mean");
  const std::size_t node = add_node(graph, mean, {output}, Attrs(mean.attrs), "loss_");
  const std::size_t loss = graph.nodes[node].outputs[0];
  graph.tensors[loss].name = is_only ? "loss" : "loss_" + graph.tensors[output].name;
  graph.tensors[loss].role = GraphTensor::output;
  return loss;
}

void add_backward(Graph& graph) {
  std::vector<std::size_t> outputs, losses;
  const Node& first = graph.nodes[0];
  for (std::size_t i = 0; i < first.outputs.size(); ++i) {
    const bool is_number = is_floating(graph.tensors[first.outputs[i]].desc.dtype);
    if (is_number && first.problem.op->output(i).differentiable)
      outputs.push_back(first.outputs[i]);
  }
  if (outputs.empty()) {
    throw Error(fmt::format("{} of {} has no floating output, so it cannot run with --backward",
                            graph.nodes[0].problem.op->name, name(graph.tensors[0].desc.dtype)));
  }
  for (const std::size_t output : outputs) {
    losses.push_back(add_loss(graph, output, outputs.size() == 1));
  }
  Differentiation(graph, losses).run();
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
  if (same_family != nullptr) return same_family;
  // The gradient of a native or vendor variant is theirs or none; the device has an operator for
  // all.
  if (node.under_test && wanted.provider != Provider::npu) return nullptr;
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
      inputs.push_back(
          add_tensor(graph, c.op->input_name(i), problem.inputs[i], GraphTensor::input));
    }
    graph.nodes[add_node(graph, *c.op, std::move(inputs), c.attrs, "")].under_test = true;
    if (c.backward) add_backward(graph);
    mark_outputs(graph);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", c.origin, error.what()));
  }
  return graph;
}

InputRange Selection::takes() const {
  InputRange range = InputRange::any;
  for (const Kernel* kernel : kernels) range = std::max(range, kernel->takes);
  return range;
}

std::string Selection::kernel_names() const {
  std::vector<std::string_view> names;
  for (const Kernel* kernel : kernels) names.push_back(kernel->name);
  return fmt::format("{}", fmt::join(names, "+"));
}

std::size_t temporary_bytes(const Graph& graph, const Selection& selection) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < selection.kernels.size(); ++i) {
    bytes += temporary_bytes(*selection.kernels[i], graph.nodes[i].problem);
  }
  return bytes;
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
