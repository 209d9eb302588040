#include "harness/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/differentiation.h"
#include "tensor/error.h"

namespace opbench {
namespace {

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
  differentiate(graph, losses);
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

std::size_t add_tensor(Graph& graph, std::string name, TensorDesc desc, GraphTensor::Role role) {
  GraphTensor tensor;
  tensor.name = std::move(name);
  tensor.desc = std::move(desc);
  tensor.role = role;
  graph.tensors.push_back(std::move(tensor));
  return graph.tensors.size() - 1;
}

std::size_t add_node(Graph& graph, const Op& op, std::vector<std::size_t> inputs, Attrs attrs,
                     const std::string& prefix) {
  std::vector<TensorDesc> descs;
  for (const std::size_t input : inputs) descs.push_back(graph.tensors[input].desc);
  Node node;
  node.problem = make_problem(op, std::move(descs), std::move(attrs));
  node.inputs = std::move(inputs);
  for (std::size_t i = 0; i < node.problem.outputs.size(); ++i) {
    node.outputs.push_back(add_tensor(graph, prefix + op.output_name(node.problem, i),
                                      node.problem.outputs[i], GraphTensor::intermediate));
  }
  graph.nodes.push_back(std::move(node));
  return graph.nodes.size() - 1;
}

void mark_unread_as_outputs(Graph& graph) {
  std::vector<bool> is_read(graph.tensors.size());
  for (const Node& node : graph.nodes) {
    for (const std::size_t input : node.inputs) is_read[input] = true;
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    GraphTensor& tensor = graph.tensors[i];
    if (!is_read[i] && tensor.role == GraphTensor::intermediate) tensor.role = GraphTensor::output;
  }
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
    mark_unread_as_outputs(graph);
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
