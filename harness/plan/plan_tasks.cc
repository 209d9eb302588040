#include "harness/plan/plan_tasks.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <tuple>

namespace opbench {
namespace {

// "depthwise_conv2d" -> "DepthwiseConv2D", "mat_mul_v2" -> "MatMulV2"
std::string camel_case(std::string_view name) {
  std::string text;
  bool starts_word = true;
  for (const char c : name) {
    if (c == '_') {
      starts_word = true;
      continue;
    }
    const bool follows_digit =
        !text.empty() && std::isdigit(static_cast<unsigned char>(text.back()));
    const bool is_upper = starts_word || (follows_digit && c == 'd');
    text += is_upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts_word = false;
  }
  return text;
}

std::string task_name(std::string_view device_name, std::string_view name) {
  return device_name.empty() ? camel_case(name) : std::string(device_name);
}

}  // namespace

std::string tensors_text(const std::vector<TensorDesc>& tensors) {
  std::string text;
  for (const TensorDesc& desc : tensors) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(desc));
  }
  return text;
}

bool is_copy(const Node& node, const Kernel& kernel) {
  const ViewCopies copies = node.problem.op->context.view_copies;
  const bool is_framework = kernel.provider == Provider::framework;
  return copies == ViewCopies::always || (copies == ViewCopies::in_framework && is_framework);
}

std::string task_type(const Node& node, const Kernel& kernel) {
  const Op& op = *node.problem.op;
  if (kernel.provider == Provider::npu) return task_name(kernel.device_name, kernel.name);
  // The device's operators for copies have names of their own: GatherV2, AsStrided.
  return is_copy(node, kernel) ? "contiguous" : task_name(op.context.device_name, op.name);
}

std::partial_ordering PlanCost::operator<=>(const PlanCost& other) const {
  return std::tie(trans_data, casts, copies, bytes) <=>
         std::tie(other.trans_data, other.casts, other.copies, other.bytes);
}

PlanCost& PlanCost::operator+=(const PlanCost& other) {
  trans_data += other.trans_data;
  casts += other.casts;
  copies += other.copies;
  bytes += other.bytes;
  trans_data_bytes += other.trans_data_bytes;
  return *this;
}

PlanCost task_cost(const Node& node, const Kernel& kernel) {
  PlanCost cost;
  cost.bytes = node.problem.op->traffic(node.problem).bytes();
  const Conversion conversion = node.problem.op->context.conversion;
  if (conversion == Conversion::format) {
    cost.trans_data = 1;
    cost.trans_data_bytes = cost.bytes;
  }
  if (conversion == Conversion::dtype) cost.casts = 1;
  if (is_copy(node, kernel)) cost.copies = 1;
  return cost;
}

PlanCost plan_cost(const Graph& graph, const SelectedKernels& selection) {
  PlanCost sum;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    sum += task_cost(graph.nodes[i], *selection.kernels[i]);
  }
  return sum;
}

}  // namespace opbench
