#include "harness/plan/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace opbench {

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
                     [](const Node& node) { return node.problem.op->mixes_elements(); });
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

namespace {

void add_tensors(const std::vector<std::size_t>& numbers, const std::vector<TensorDesc>& descs,
                 fmt::memory_buffer& text) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", numbers[i], to_string(descs[i]));
  }
}

}  // namespace

std::string text_of(const Graph& graph, std::span<const Kernel* const> kernels) {
  fmt::memory_buffer text;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const Problem& problem = node.problem;
    fmt::format_to(std::back_inserter(text), "{}\n{}\n{}\n", node.name, problem.op->name,
                   kernels[i]->key());
    add_tensors(node.inputs, problem.inputs, text);
    add_tensors(node.outputs, problem.outputs, text);
    for (const auto& [name, value] : problem.attrs.values()) {
      fmt::format_to(std::back_inserter(text), "{} {}\n", name, to_string(value));
    }
    if (node.unless != Node::kNone) {
      fmt::format_to(std::back_inserter(text), "unless {}\n", node.unless);
    }
  }
  return fmt::to_string(text);
}

}  // namespace opbench
