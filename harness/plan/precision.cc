#include "harness/plan/precision.h"

#include <algorithm>

namespace opbench {
namespace {

DType widest(const Graph& graph, const Op& op, const std::vector<std::size_t>& inputs) {
  DType result = DType::fp16;
  bool is_first = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DType dtype = graph.tensors[inputs[i]].desc.dtype;
    if (op.input(i).has_own_dtype() || !is_floating(dtype)) continue;
    if (is_first || size_of(dtype) > size_of(result)) result = dtype;
    is_first = false;
  }
  return result;
}

}  // namespace

void CastInsertion::apply(const Precision& precision, const Op& op,
                          std::vector<std::size_t>& inputs) {
  const Precision::Level level = precision.level;
  const std::vector<std::string>& kept = precision.keep_fp32;
  if (level == Precision::Level::O0) return;
  DType wanted = widest(graph_, op, inputs);
  if (std::find(kept.begin(), kept.end(), op.name) != kept.end()) {
    wanted = DType::fp32;
  } else if (level == Precision::Level::O2 || op.context.uses_cube) {
    wanted = DType::fp16;
  } else if (op.context.needs_fp32) {
    wanted = DType::fp32;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorDesc& desc = graph_.tensors[inputs[i]].desc;
    const bool is_number = is_floating(desc.dtype) && desc.shape != Dims{0};
    if (is_number && !op.input(i).has_own_dtype()) inputs[i] = to(inputs[i], wanted);
  }
}

std::size_t CastInsertion::to(std::size_t tensor, DType dtype) {
  if (graph_.tensors[tensor].desc.dtype == dtype) return tensor;
  if (const auto found = done_.find({tensor, dtype}); found != done_.end()) return found->second;
  const Op& cast = find_op("cast");
  Attrs attrs(cast.attrs);
  attrs.put("to", std::string(name(dtype)));
  const std::size_t added = add_node(graph_, cast, {tensor}, std::move(attrs), "");
  Node& node = graph_.nodes[added];
  const std::string cast_name = graph_.tensors[tensor].name + "." + std::string(name(dtype));
  node.name = cast_name;
  node.cause = "precision: " + std::string(name(dtype)) + " required";
  graph_.tensors[node.outputs[0]].name = cast_name;
  done_[{tensor, dtype}] = node.outputs[0];
  return node.outputs[0];
}

}  // namespace opbench
