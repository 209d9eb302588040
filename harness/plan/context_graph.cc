#include "harness/plan/context_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/plan/differentiation.h"
#include "harness/plan/precision.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// Prefixes errors with their place in the file.
template <class Body>
void located(const std::string& origin, Body body) {
  try {
    body();
  } catch (const Error& error) {
    throw Error(origin.empty() ? error.what() : fmt::format("{}: {}", origin, error.what()));
  }
}

/// The first node that reads a tensor, and the input by which it reads it.
struct Use {
  const ContextNode* node = nullptr;
  std::size_t input = 0;
};

class Builder {
 public:
  Builder(const Context& context, const ContextStep& step, DType dtype)
      : context_(context), step_(step), dtype_(dtype), casts_(result_.graph) {}

  LogicalGraph build() {
    find_first_uses();
    for (const ContextTensor& tensor : step_.graph->inputs) add(tensor, GraphTensor::input);
    for (const ContextTensor& tensor : step_.graph->parameters) {
      add(tensor, GraphTensor::parameter);
    }
    for (const ContextNode& node : step_.graph->nodes) {
      located(node.origin, [&] { add(node); });
    }
    for (const std::string& output : step_.graph->outputs) {
      result_.results.push_back({output, tensors_.at(output)});
    }
    if (context_.backward) located(context_.origin, [&] { add_backward(); });
    for (const std::size_t tensor : statistics_) add_result(tensor);
    mark_unread_as_outputs(result_.graph);
    for (const GraphResult& result : result_.results) keep(result.tensor);
    return std::move(result_);
  }

 private:
  void find_first_uses() {
    for (const ContextNode& node : step_.graph->nodes) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        first_use_.emplace(node.inputs[i], Use{&node, i});
      }
    }
  }

  void add(const ContextTensor& tensor, GraphTensor::Role role) {
    located(tensor.origin, [&] {
      const std::size_t added =
          add_tensor(result_.graph, tensor.name, describe(dtype_of(tensor), tensor.shape), role);
      tensors_[tensor.name] = added;
      if (tensor.data) result_.graph.tensors[added].data = *tensor.data;
      if (!tensor.data) without_data_.push_back(added);
      if (!tensor.takes_gradient) constants_.insert(added);
      if (!tensor.format) return;
      const Format format = format_for_rank(*tensor.format, tensor.shape.size());
      describe(dtype_of(tensor), tensor.shape, format);  // throws if the rank is not supported
      result_.arriving.emplace_back(added, format);
    });
  }

  DType dtype_of(const ContextTensor& tensor) const {
    if (tensor.dtype) return *tensor.dtype;
    const auto use = first_use_.find(tensor.name);
    if (use == first_use_.end()) return dtype_;
    const TensorSpec& spec = use->second.node->op->input(use->second.input);
    return spec.has_own_dtype() ? spec.dtypes.front() : dtype_;
  }

  void add(const ContextNode& node) {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const bool is_given = node.inputs[i] != "_";
      inputs.push_back(is_given ? tensors_.at(node.inputs[i]) : absent_input(node, i));
    }
    const std::vector<std::size_t> given = inputs;
    casts_.apply(step_.precision, *node.op, inputs);
    const std::size_t added =
        add_node(result_.graph, *node.op, std::move(inputs), node.attrs, node.name + ".");
    Node& call = result_.graph.nodes[added];
    call.name = node.name;
    call.origin = node.origin;
    if (node.outputs.size() > call.outputs.size()) {
      throw Error(fmt::format("{} '{}' has {} outputs, but {} are named", node.op->name, node.name,
                              call.outputs.size(), node.outputs.size()));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == "_") continue;
      result_.graph.tensors[call.outputs[i]].name = node.outputs[i];
      tensors_[node.outputs[i]] = call.outputs[i];
    }
    if (node.op->name == "batch_norm") keep_statistics(node, call);
    fill_first_uses(call.problem, given);
  }

  std::size_t absent_input(const ContextNode& node, std::size_t i) {
    const TensorSpec& spec = node.op->input(i);
    const DType dtype = spec.has_own_dtype() ? spec.dtypes.front() : dtype_;
    return add_tensor(result_.graph, node.name + "." + node.op->input_name(i), describe(dtype, {0}),
                      GraphTensor::zeros);
  }

  // The updated running statistics of a batch norm in training are results, unless the file names
  // them itself.
  void keep_statistics(const ContextNode& node, const Node& call) {
    for (const std::size_t i : {1, 2}) {  // running_mean_out, running_var_out
      if (i >= call.outputs.size() || i < node.outputs.size()) continue;
      const std::string name = "updated_" + node.inputs[i + 2];
      if (!tensors_.emplace(name, call.outputs[i]).second) continue;
      result_.graph.tensors[call.outputs[i]].name = name;
      statistics_.push_back(call.outputs[i]);
    }
  }

  // The operator that first reads an input decides its data.
  void fill_first_uses(const Problem& problem, const std::vector<std::size_t>& given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto waiting = std::find(without_data_.begin(), without_data_.end(), given[i]);
      if (waiting == without_data_.end()) continue;
      result_.graph.tensors[given[i]].data = default_data(problem, i);
      without_data_.erase(waiting);
    }
  }

  void add_backward() {
    std::vector<std::size_t> losses;
    const bool is_only = step_.graph->outputs.size() == 1;
    for (const std::string& output : step_.graph->outputs) {
      const auto loss = loss_of(tensors_.at(output), is_only ? "loss" : "loss_" + output);
      if (loss) losses.push_back(*loss);
    }
    if (losses.empty()) throw Error("no output is floating, so the context cannot run backward");
    const Precision& precision = step_.precision;
    const bool is_scaled = precision.scaling != Precision::Scaling::none;
    Gradients gradients = differentiate(
        result_.graph, losses,
        {DistributionKind::constant, is_scaled ? precision.loss_scale : 1, 0}, constants_);
    std::vector<std::size_t> wanted;
    for (const auto& tensors : {step_.graph->inputs, step_.graph->parameters}) {
      for (const ContextTensor& tensor : tensors) {
        const auto found = gradients.find(tensors_.at(tensor.name));
        if (found != gradients.end()) wanted.push_back(found->first);
      }
    }
    const std::size_t flag = is_scaled ? unscale(wanted, gradients) : Node::kNone;
    for (const std::size_t tensor : wanted) {
      result_.results.push_back({name_of_gradient(tensor), gradients.at(tensor)});
    }
    if (context_.update) update(wanted, gradients, flag);
  }

  // The output itself if it is a scalar.
  std::optional<std::size_t> loss_of(std::size_t output, const std::string& name) {
    if (!is_floating(result_.graph.tensors[output].desc.dtype)) return std::nullopt;
    if (step_.precision.level != Precision::Level::O0) {
      output = casts_.to(output, DType::fp32);  // a sum over many fp16 numbers would overflow
    }
    if (result_.graph.tensors[output].desc.elements() == 1) return output;
    const Op& op = find_op(context_.loss == Loss::sum ? "sum" : "mean");
    const std::size_t node = add_node(result_.graph, op, {output}, Attrs(op.attrs), "");
    const std::size_t loss = result_.graph.nodes[node].outputs[0];
    result_.graph.nodes[node].name = name;
    result_.graph.tensors[loss].name = name;
    add_result(loss);
    return loss;
  }

  // Divides the gradients by the loss scale. Returns a flag that is set if a gradient is not
  // finite.
  std::size_t unscale(const std::vector<std::size_t>& wanted, Gradients& gradients) {
    const Op& check = find_op("non_finite_check");
    std::vector<std::size_t> scaled;
    for (const std::size_t tensor : wanted) scaled.push_back(as_fp32(gradients.at(tensor)));
    Attrs attrs(check.attrs);
    attrs.put("saturate", step_.precision.half == Precision::Half::saturate);
    const std::size_t node = add_node(result_.graph, check, scaled, std::move(attrs), "");
    result_.graph.nodes[node].name = "overflow_check";
    const std::size_t flag = result_.graph.nodes[node].outputs[0];
    result_.graph.tensors[flag].name = std::string(kOverflowFlag);
    add_result(flag);
    const Op& muls = find_op("muls");
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Attrs factor(muls.attrs);
      factor.put("value", 1 / step_.precision.loss_scale);
      const std::size_t added = add_node(result_.graph, muls, {scaled[i]}, std::move(factor), "");
      Node& call = result_.graph.nodes[added];
      const std::string name = name_of_gradient(wanted[i]);
      call.name = name + ".unscale";
      result_.graph.tensors[call.outputs[0]].name = name;
      gradients.at(wanted[i]) = call.outputs[0];
    }
    return flag;
  }

  std::size_t as_fp32(std::size_t tensor) { return casts_.to(tensor, DType::fp32); }

  void update(const std::vector<std::size_t>& wanted, const Gradients& gradients,
              std::size_t flag) {
    const Op& axpy = find_op("axpy");
    for (const std::size_t tensor : wanted) {
      if (result_.graph.tensors[tensor].role != GraphTensor::parameter) continue;
      const std::size_t gradient =
          casts_.to(gradients.at(tensor), result_.graph.tensors[tensor].desc.dtype);
      Attrs attrs(axpy.attrs);
      attrs.put("alpha", -context_.update->rate);
      const std::size_t added =
          add_node(result_.graph, axpy, {tensor, gradient}, std::move(attrs), "");
      Node& call = result_.graph.nodes[added];
      call.name = result_.graph.tensors[tensor].name + ".update";
      call.unless = flag;
      result_.graph.tensors[call.outputs[0]].name = "updated_" + result_.graph.tensors[tensor].name;
      add_result(call.outputs[0]);
    }
  }

  const std::string& name_of(std::size_t tensor) const {
    return result_.graph.tensors[tensor].name;
  }

  std::string name_of_gradient(std::size_t tensor) const { return "grad_" + name_of(tensor); }

  void add_result(std::size_t tensor) { result_.results.push_back({name_of(tensor), tensor}); }

  void keep(std::size_t tensor) {
    GraphTensor& kept = result_.graph.tensors[tensor];
    if (kept.role == GraphTensor::intermediate) kept.role = GraphTensor::output;
  }

  const Context& context_;
  const ContextStep& step_;
  const DType dtype_;
  LogicalGraph result_;
  CastInsertion casts_;
  std::map<std::string, std::size_t> tensors_;
  std::map<std::string, Use> first_use_;
  std::vector<std::size_t> without_data_;
  std::vector<std::size_t> statistics_;
  std::set<std::size_t> constants_;  // given tensors that take no gradient
};

}  // namespace

LogicalGraph build_context_graph(const Context& context, const ContextStep& step, DType dtype) {
  return Builder(context, step, dtype).build();
}

}  // namespace opbench
