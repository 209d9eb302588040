#include "harness/plan/task_names.h"

#include <cctype>
#include <string_view>

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

bool is_copy(const Node& node, const Kernel& kernel) {
  const ViewCopies copies = node.problem.op->context.view_copies;
  const bool is_framework = kernel.provider == Provider::framework;
  return copies == ViewCopies::always || (copies == ViewCopies::in_framework && is_framework);
}

std::string task_type(const Node& node, const Kernel& kernel) {
  const Op& op = *node.problem.op;
  if (kernel.provider == Provider::npu) return task_name(kernel.device_name, kernel.name);
  // A device's copy is an operator like any other: GatherV2, AsStrided.
  return is_copy(node, kernel) ? "contiguous" : task_name(op.context.device_name, op.name);
}

}  // namespace opbench
