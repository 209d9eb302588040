#include "harness/plan/task_names.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace opbench {
namespace {

// What the rule below does not spell as CANN does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSpelled = {{
    {"index_add", "InplaceIndexAdd"},
    {"mat_mul_v2", "MatMulV2"},
    {"index_select", "GatherV2"},
    {"muls", "Muls"},
    {"nll_loss_grad", "NLLLossGrad"},
}};

// "depthwise_conv2d" -> "DepthwiseConv2D", "bn_training_update" -> "BNTrainingUpdate"
std::string camel_case(std::string_view name) {
  for (const auto& [from, to] : kSpelled) {
    if (name == from) return std::string(to);
  }
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
  if (text.starts_with("Bn")) text[1] = 'N';
  return text;
}

}  // namespace

bool is_copy(const Node& node, const Kernel& kernel) {
  const std::string_view op = node.problem.op->name;
  if (op == "contiguous") return true;
  return kernel.provider == Provider::framework && (op == "channel_shuffle" || op == "split");
}

std::string task_type(const Node& node, const Kernel& kernel) {
  const bool is_device = kernel.provider == Provider::npu;
  // A device's copy is an operator like any other: GatherV2, AsStrided.
  if (!is_device && is_copy(node, kernel)) return "contiguous";
  return camel_case(is_device && kernel.name != "npu_910a" ? kernel.name : node.problem.op->name);
}

}  // namespace opbench
