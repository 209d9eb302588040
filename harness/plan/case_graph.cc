#include "harness/plan/case_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/differentiation.h"
#include "tensor/error.h"

namespace opbench {

namespace {

// Adds "loss", or a loss for each output: "loss_y0", "loss_y1".
std::size_t add_loss(Graph& graph, std::size_t output, bool is_only) {
  const Op& mean = find_op("mean");
  const std::size_t node = add_node(graph, mean, {output}, Attrs(mean.attrs), "loss_");
  const std::size_t loss = graph.nodes[node].outputs[0];
  graph.tensors[loss].name = is_only ? "loss" : "loss_" + graph.tensors[output].name;
  graph.tensors[loss].role = GraphTensor::output;
  return loss;
}

// True if the gradient of a broadcast input is summed to the input's shape.
bool is_summed(const Problem& problem, const GradientCall& call) {
  std::vector<TensorDesc> args;
  for (const GradientArg& arg : call.args) {
    const bool is_of_output =
        arg.source == GradientArg::output_gradient || arg.source == GradientArg::output;
    args.push_back((is_of_output ? problem.outputs : problem.inputs)[arg.index]);
  }
  const Op& op = find_op(call.op);
  const Attrs attrs = call.attrs.empty() ? problem.attrs.restricted_to(op.attrs) : call.attrs;
  const Problem gradient = make_problem(op, std::move(args), attrs);
  return gradient.outputs[0].shape != problem.inputs[call.of_inputs[0]].shape;
}

// True for a value of the forward operator that the slope depends on. Indices and masks decide
// where a gradient goes, so they are not counted.
bool is_slope(const Problem& problem, const GradientArg& arg) {
  if (arg.source == GradientArg::input) return is_floating(problem.inputs[arg.index].dtype);
  return arg.source == GradientArg::output && is_floating(problem.outputs[arg.index].dtype);
}

// The mean's gradient is a constant. It tests the backward kernel only if each of its elements is
// multiplied with a slope of its own. Its gradient through a softmax or a batch norm is 0. Its
// gradient through a sum or a permutation is a constant, whatever the kernel does.
bool mean_tests_kernel(const Problem& problem) {
  if (problem.op->mixes_elements() || problem.op->gradient == nullptr) return false;
  // Fractal formats have no mean.
  const std::vector<Format>& formats = find_op("mean").formats;
  if (std::find(formats.begin(), formats.end(), problem.outputs[0].format) == formats.end()) {
    return false;
  }
  const std::vector<GradientCall> calls = problem.op->gradient(problem);
  return std::all_of(calls.begin(), calls.end(), [&](const GradientCall& call) {
    const bool has_slopes =
        std::any_of(call.args.begin(), call.args.end(),
                    [&](const GradientArg& arg) { return is_slope(problem, arg); });
    return has_slopes && !is_summed(problem, call);
  });
}

constexpr double kLargestHalf = 65504;  // largest finite fp16 number

// The loss is the mean, as in the profiling scripts of porting guides. From n = 16,384 on, 1/n is
// below fp16's normal numbers. The loss is scaled there, like in mixed precision.
void add_backward_of_mean(Graph& graph, const std::vector<std::size_t>& outputs) {
  std::vector<std::size_t> losses;
  for (const std::size_t output : outputs) {
    losses.push_back(add_loss(graph, output, outputs.size() == 1));
  }
  const TensorDesc& desc = graph.tensors[outputs.front()].desc;
  const double scale = desc.dtype == DType::fp16
                           ? std::clamp(static_cast<double>(desc.elements()), 1.0, kLargestHalf)
                           : 1;
  differentiate(graph, losses, {DistributionKind::constant, scale, 0});
}

// Starts from random gradients of the outputs. They are of the order of 1, and larger if each is
// spread over many inputs, as by a mean.
void add_backward_of_random(Graph& graph, const std::vector<std::size_t>& outputs) {
  constexpr double kLargest = kLargestHalf / 8;  // overflow of fp16 is 8 standard deviations away
  const double results = static_cast<double>(graph.tensors[outputs.front()].desc.elements());
  double given = 0;
  for (const TensorDesc& input : graph.nodes[0].problem.inputs) {
    given = std::max(given, static_cast<double>(input.elements()));
  }
  const double scale = std::clamp(given / std::max(1.0, results), 1.0, kLargest);
  // A single random number may happen to be close to 0.
  const Distribution seed = results > 1 ? Distribution{DistributionKind::normal, 0, scale}
                                        : Distribution{DistributionKind::constant, scale, 0};
  differentiate(graph, outputs, seed);
  for (const std::size_t output : outputs) graph.tensors[output].role = GraphTensor::output;
}

void add_backward(Graph& graph) {
  std::vector<std::size_t> outputs;
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
  if (mean_tests_kernel(first.problem))
    add_backward_of_mean(graph, outputs);
  else
    add_backward_of_random(graph, outputs);
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
    throw Error(c.origin, error.what());
  }
  return graph;
}

}  // namespace opbench
