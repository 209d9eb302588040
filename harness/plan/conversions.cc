#include "harness/plan/conversions.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/error.h"

namespace opbench {

std::size_t Conversions::convert(std::size_t tensor, const TensorDesc& wanted, const Node& node,
                                 const std::string& cause) {
  if (desc(tensor) == wanted) return tensor;
  const bool is_shared = node.shares_conversions != 0 && rules_.grad_cast_once;
  const Key key{tensor, wanted.format, wanted.dtype, node.shares_conversions};
  if (is_shared) {
    if (const auto found = shared_.find(key); found != shared_.end()) return found->second;
  }
  if (desc(tensor).dtype != wanted.dtype) tensor = cast(tensor, wanted.dtype, node);
  if (desc(tensor) != wanted) tensor = trans_data(tensor, wanted, node, cause);
  if (is_shared) shared_[key] = tensor;
  return tensor;
}

std::size_t Conversions::cast(std::size_t tensor, DType dtype, const Node& node) {
  const Op& op = find_op("cast");
  Attrs attrs(op.attrs);
  attrs.put("to", std::string(name(dtype)));
  const std::string_view cause = node.problem.op->context.uses_cube
                                     ? "the cube unit takes fp16 (allow_fp32_to_fp16)"
                                     : "the kernel takes inputs of one dtype";
  return insert(op, tensor, std::move(attrs), node,
                fmt::format("{}: {}", node.problem.op->name, cause));
}

std::size_t Conversions::trans_data(std::size_t tensor, const TensorDesc& wanted, const Node& node,
                                    const std::string& cause) {
  const bool is_far =
      is_private(desc(tensor).format) && is_private(wanted.format) && !has_pair(tensor, wanted);
  if (is_far) tensor = trans_data(tensor, describe(wanted.dtype, wanted.shape), node, cause);
  return insert(find_op("trans_data"), tensor, trans_data_attrs(tensor, wanted), node, cause);
}

Attrs Conversions::trans_data_attrs(std::size_t tensor, const TensorDesc& wanted) const {
  Attrs attrs(find_op("trans_data").attrs);
  attrs.put("dst_format", std::string(name(wanted.format)));
  // Only one side is FRACTAL_Z and says how its groups are packed.
  attrs.put("groups", std::int64_t{std::max(desc(tensor).groups, wanted.groups)});
  return attrs;
}

bool Conversions::has_pair(std::size_t tensor, const TensorDesc& wanted) {
  try {
    const Problem problem =
        make_problem(find_op("trans_data"), {desc(tensor)}, trans_data_attrs(tensor, wanted));
    return choice_.first_that_takes(problem) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

std::size_t Conversions::insert(const Op& op, std::size_t tensor, Attrs attrs, const Node& node,
                                const std::string& cause) {
  const std::string name = fmt::format("{}.{}{}", node.name, op.name, inserted_[node.name]++);
  const std::size_t added = add_node(graph_, op, {tensor}, std::move(attrs), name + ".");
  Node& call = graph_.nodes[added];
  call.name = name;
  call.cause = cause;
  call.origin = node.origin;
  const Kernel* kernel = choice_.first_that_takes(call.problem);
  if (kernel == nullptr) {
    throw Error(fmt::format("{}: {} has no kernel for {} to {}", node.origin, op.name,
                            to_string(call.problem.inputs[0]), to_string(call.problem.outputs[0])));
  }
  kernels_.push_back(kernel);
  return call.outputs[0];
}

}  // namespace opbench
