#include "harness/plan/case_graph.h"

#include <fmt/format.h>

#include "harness/plan/differentiation.h"
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

}  // namespace

Graph build_graph(const Case& c) {
  Graph graph;
  std::vector<TensorDesc> descs = inputs_of(c);
  try {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < descs.size(); ++i) {
      inputs.push_back(
          add_tensor(graph, c.op->input_name(i), std::move(descs[i]), GraphTensor::input));
    }
    Node& node = graph.nodes[add_node(graph, *c.op, std::move(inputs), c.attrs, "")];
    node.under_test = true;
    const std::vector<Distribution> data = input_data(c, node.problem);
    for (std::size_t i = 0; i < data.size(); ++i) graph.tensors[i].data = data[i];
    if (c.backward) add_backward(graph);
    mark_unread_as_outputs(graph);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", c.origin, error.what()));
  }
  return graph;
}

}  // namespace opbench
