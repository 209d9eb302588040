#include "harness/plan/conversions.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/error.h"

namespace opbench {
namespace {

Attrs trans_data_attrs(const TensorDesc& given, const TensorDesc& target) {
  Attrs attrs(find_op("trans_data").attrs);
  attrs.put("dst_format", std::string(name(target.format)));
  // Only the FRACTAL_Z side states how its groups are packed.
  attrs.put("groups", std::int64_t{std::max(given.groups, target.groups)});
  return attrs;
}

}  // namespace

ConversionPath ConversionPaths::convert(const TensorDesc& given, const TensorDesc& target,
                                        const Node& node, const std::string& cause) {
  ConversionPath path;
  if (given.dtype != target.dtype) path.push_back(cast(given, target.dtype, node));
  const TensorDesc cast_to = path.empty() ? given : path.back().result();
  if (cast_to == target) return path;
  for (PlannedConversion& conversion : trans_data(cast_to, target, node, cause)) {
    path.push_back(std::move(conversion));
  }
  return path;
}

PlannedConversion ConversionPaths::cast(const TensorDesc& given, DType dtype, const Node& node) {
  const Op& op = find_op("cast");
  Attrs attrs(op.attrs);
  attrs.put("to", std::string(name(dtype)));
  const std::string_view cause = node.problem.op->context.uses_cube
                                     ? "the cube unit takes fp16 (allow_fp32_to_fp16)"
                                     : "the kernel takes inputs of one dtype";
  return planned(op, given, std::move(attrs), node,
                 fmt::format("{}: {}", node.problem.op->name, cause));
}

ConversionPath ConversionPaths::trans_data(const TensorDesc& given, const TensorDesc& target,
                                           const Node& node, const std::string& cause) {
  const bool is_far =
      is_private(given.format) && is_private(target.format) && !has_pair(given, target);
  ConversionPath path;
  if (is_far) path = trans_data(given, describe(target.dtype, target.shape), node, cause);
  const TensorDesc& from = path.empty() ? given : path.back().result();
  PlannedConversion last =
      planned(find_op("trans_data"), from, trans_data_attrs(from, target), node, cause);
  path.push_back(std::move(last));
  return path;
}

bool ConversionPaths::has_pair(const TensorDesc& given, const TensorDesc& target) {
  try {
    const Problem problem =
        make_problem(find_op("trans_data"), {given}, trans_data_attrs(given, target));
    return choice_.first_that_takes(problem) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

PlannedConversion ConversionPaths::planned(const Op& op, const TensorDesc& given, Attrs attrs,
                                           const Node& node, std::string cause) {
  PlannedConversion conversion{make_problem(op, {given}, std::move(attrs)), nullptr,
                               std::move(cause)};
  const Problem& problem = conversion.problem;
  conversion.kernel = choice_.first_that_takes(problem);
  if (conversion.kernel == nullptr) {
    throw Error(fmt::format("{}: {} has no kernel for {} to {}", node.origin, op.name,
                            to_string(problem.inputs[0]), to_string(problem.outputs[0])));
  }
  return conversion;
}

std::size_t ConversionInsertion::before(const Node& node, std::size_t tensor,
                                        const ConversionPath& path) {
  if (path.empty()) return tensor;
  if (node.shares_conversions == 0 || !rules_.grad_cast_once) return after(node, tensor, path);
  const TensorDesc& target = path.back().result();
  const Key key{tensor, target.format, target.dtype, node.shares_conversions};
  if (const auto found = shared_.find(key); found != shared_.end()) return found->second;
  return shared_[key] = after(node, tensor, path);
}

std::size_t ConversionInsertion::after(const Node& node, std::size_t tensor,
                                       const ConversionPath& path) {
  for (const PlannedConversion& conversion : path) tensor = insert(conversion, tensor, node);
  return tensor;
}

std::size_t ConversionInsertion::insert(const PlannedConversion& conversion, std::size_t tensor,
                                        const Node& node) {
  const Op& op = *conversion.problem.op;
  Node call;
  call.problem = conversion.problem;
  call.name = fmt::format("{}.{}{}", node.name, op.name, inserted_[node.name]++);
  call.cause = conversion.cause;
  call.origin = node.origin;
  call.inputs = {tensor};
  call.outputs = {add_tensor(graph_,
                             fmt::format("{}.{}", call.name, op.output_name(call.problem, 0)),
                             conversion.result(), GraphTensor::intermediate)};
  graph_.nodes.push_back(std::move(call));
  kernels_.push_back(conversion.kernel);
  return graph_.nodes.back().outputs[0];
}

}  // namespace opbench
