#include "harness/plan/differentiation.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/error.h"

namespace opbench {
namespace {

class Differentiation {
 public:
  Differentiation(Graph& graph, const std::vector<std::size_t>& losses, const Distribution& seed,
                  const std::set<std::size_t>& constants)
      : graph_(graph), constants_(constants) {
    for (const Node& node : graph.nodes) {
      if (!are_constant(node.inputs)) continue;
      constants_.insert(node.outputs.begin(), node.outputs.end());
    }
    for (const std::size_t loss : losses) {
      const GraphTensor& tensor = graph_.tensors[loss];
      const std::size_t added =
          add_tensor(graph_, "grad_" + tensor.name, tensor.desc, GraphTensor::gradient_seed);
      graph_.tensors[added].data = seed;
      gradient_of_[loss] = added;
    }
  }

  Gradients run() {
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) differentiate(i);
    return std::move(gradient_of_);
  }

 private:
  void differentiate(std::size_t index) {
    // A copy, because appending nodes moves the originals.
    const Node node = graph_.nodes[index];
    if (!reached(node)) return;
    if (node.problem.op->gradient == nullptr) {
      throw Error(
          fmt::format("{} has no gradient, so it cannot run backward", node.problem.op->name));
    }
    for (const GradientCall& call : node.problem.op->gradient(node.problem)) apply(call, node);
  }

  bool are_constant(const std::vector<std::size_t>& tensors) const {
    return !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [&](std::size_t tensor) {
      return constants_.contains(tensor);
    });
  }

  bool reached(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](std::size_t output) { return gradient_of_.contains(output); });
  }

  void apply(const GradientCall& call, const Node& node) {
    std::vector<std::size_t> args, of;
    for (const std::size_t i : call.of_inputs) of.push_back(node.inputs[i]);
    if (are_constant(of)) return;
    for (const GradientArg& arg : call.args) args.push_back(argument(arg, node));
    if (call.op.empty()) {
      const std::size_t differentiated = of.front();
      return set_gradient(differentiated, fitted(differentiated, args.front(), node));
    }
    const Op& op = find_op(call.op);
    Attrs attrs = call.attrs.empty() ? node.problem.attrs.restricted_to(op.attrs) : call.attrs;
    const std::size_t added = append(op, std::move(args), std::move(attrs), node);
    graph_.nodes[added].under_test = node.under_test;
    for (std::size_t i = 0; i < call.of_inputs.size(); ++i) {
      const std::size_t differentiated = of[i];
      if (constants_.contains(differentiated)) continue;
      const std::size_t result = graph_.nodes[added].outputs[i];
      graph_.tensors[result].name = "grad_" + graph_.tensors[differentiated].name;
      set_gradient(differentiated, fitted(differentiated, result, node));
    }
  }

  // Fits the gradient of a broadcast or promoted input to the input's shape and dtype.
  std::size_t fitted(std::size_t tensor, std::size_t gradient, const Node& forward) {
    return in_dtype_of(tensor, in_shape_of(tensor, gradient, forward), forward);
  }

  std::size_t in_shape_of(std::size_t tensor, std::size_t gradient, const Node& forward) {
    const Dims wanted = graph_.tensors[tensor].desc.shape;
    if (graph_.tensors[gradient].desc.shape == wanted) return gradient;
    const Op& sum = find_op("sum_to_size");
    Attrs attrs(sum.attrs);
    attrs.put("size", wanted);
    return converted(tensor, sum, gradient, std::move(attrs), forward);
  }

  std::size_t in_dtype_of(std::size_t tensor, std::size_t gradient, const Node& forward) {
    const DType wanted = graph_.tensors[tensor].desc.dtype;
    const bool is_same = graph_.tensors[gradient].desc.dtype == wanted;
    if (is_same || !forward.problem.op->promotes) return gradient;
    const Op& cast = find_op("cast");
    Attrs attrs(cast.attrs);
    attrs.put("to", std::string(name(wanted)));
    return converted(tensor, cast, gradient, std::move(attrs), forward);
  }

  std::size_t converted(std::size_t tensor, const Op& op, std::size_t gradient, Attrs attrs,
                        const Node& forward) {
    const std::size_t added = append(op, {gradient}, std::move(attrs), forward);
    graph_.nodes[added].under_test = forward.under_test;
    const std::size_t result = graph_.nodes[added].outputs[0];
    graph_.tensors[result].name = "grad_" + graph_.tensors[tensor].name;
    return result;
  }

  std::size_t append(const Op& op, std::vector<std::size_t> inputs, Attrs attrs,
                     const Node& forward) {
    const std::size_t added = add_node(graph_, op, std::move(inputs), std::move(attrs), "");
    if (!forward.name.empty()) {
      graph_.nodes[added].name = fmt::format("{}.{}", forward.name, op.name);
    }
    graph_.nodes[added].origin = forward.origin;
    graph_.nodes[added].cause = forward.cause;
    return added;
  }

  // The backward pass visits all readers of a tensor before its writer, so the sum is complete at
  // its use.
  void set_gradient(std::size_t tensor, std::size_t gradient) {
    const auto [place, is_first] = gradient_of_.emplace(tensor, gradient);
    if (is_first) return;
    const Op& add = find_op("add");
    const std::size_t added =
        add_node(graph_, add, {place->second, gradient}, Attrs(add.attrs), "");
    const std::string name = "grad_" + graph_.tensors[tensor].name;
    graph_.nodes[added].name = name + ".add";
    const std::size_t sum = graph_.nodes[added].outputs[0];
    graph_.tensors[sum].name = name;
    place->second = sum;
  }

  std::size_t argument(const GradientArg& arg, const Node& node) {
    switch (arg.source) {
      case GradientArg::output_gradient:
        return gradient_of_output(node, arg.index);
      case GradientArg::input:
        return node.inputs[arg.index];
      case GradientArg::output:
        return node.outputs[arg.index];
      case GradientArg::zeros_like_input:
        return add_tensor(graph_, "zeros", node.problem.inputs[arg.index], GraphTensor::zeros);
    }
    throw std::logic_error("unknown gradient argument");
  }

  // Gradient of an output; 0 for an output that no loss depends on.
  std::size_t gradient_of_output(const Node& node, std::size_t index) {
    const auto found = gradient_of_.find(node.outputs[index]);
    if (found != gradient_of_.end()) return found->second;
    return add_tensor(graph_, "zeros", node.problem.outputs[index], GraphTensor::zeros);
  }

  Graph& graph_;
  std::set<std::size_t> constants_;
  Gradients gradient_of_;
};

}  // namespace

Gradients differentiate(Graph& graph, const std::vector<std::size_t>& losses,
                        const Distribution& seed, const std::set<std::size_t>& constants) {
  return Differentiation(graph, losses, seed, constants).run();
}

}  // namespace opbench
