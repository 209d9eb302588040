#include "ops/positional_call.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "ops/known_as.h"

namespace opbench {
namespace {

/// A function and its name in the table; the latter is empty if both are equal.
struct Signature {
  std::string_view function, name, arguments;
  bool joins_rows = false;
};

// Signatures of torch, torch.Tensor, torch.nn.functional (PyTorch 2) and torch_npu. Functions whose
// result depends on a word, such as a rounding mode, are not listed: dumps do not have words.
constexpr Signature kSignatures[] = {
    {"linear", "", "input, weight, bias", true},
    {"conv1d", "", "input, weight, bias, stride, padding, dilation, groups"},
    {"conv2d", "", "input, weight, bias, stride, padding, dilation, groups"},
    {"conv3d", "", "input, weight, bias, stride, padding, dilation, groups"},
    {"layer_norm", "", "input, normalized_shape, weight, bias, eps"},
    {"rms_norm", "", "input, normalized_shape, weight, eps"},
    {"embedding", "", "indices, weight, padding_idx, , norm_type, scale_grad_by_freq, sparse"},
    {"local_response_norm", "", "input, size, alpha, beta, k"},
    {"softmax", "", "self, dim, _stacklevel"},
    {"matmul", "", "self, other"},
    {"__matmul__", "matmul", "self, other"},
    {"bmm", "", "self, mat2"},
    {"mm", "", "self, mat2"},
    {"add", "", "self, other, alpha"},
    {"__add__", "add", "self, other"},
    {"sub", "", "self, other, alpha"},
    {"__sub__", "sub", "self, other"},
    {"mul", "", "self, other"},
    {"__mul__", "mul", "self, other"},
    {"__truediv__", "div_Tensor", "self, other"},
    {"masked_fill", "", "self, mask, value"},
    {"pow", "", "self, exponent"},
    {"mean", "", "self, dim, keepdim"},
    {"relu", "", "self, inplace"},
    {"silu", "", "self, inplace"},
    {"sigmoid", "", "self"},
    {"tanh", "", "self"},
    {"exp", "", "self"},
    {"sin", "", "self"},
    {"cos", "", "self"},
    {"rsqrt", "", "self"},
    {"npu_rms_norm", "", "self, gamma, epsilon"},
    {"npu_add_rms_norm", "", "x1, x2, gamma, epsilon"},
    {"npu_swiglu", "", "self, dim"},
};

const std::vector<PositionalCall>& positional_calls() {
  static const std::vector<PositionalCall> all = [] {
    std::vector<PositionalCall> calls;
    for (const Signature& one : kSignatures) {
      calls.push_back({one.function, one.name.empty() ? one.function : one.name,
                       items_of(one.arguments), one.joins_rows});
    }
    return calls;
  }();
  return all;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
    return std::isdigit(letter) != 0;
  });
}

// "linear" of "step0/rank0/Functional.linear.0.forward"; empty for another form.
std::string_view function_of(std::string_view op) {
  constexpr std::array<std::string_view, 4> kKinds = {"Functional.", "Torch.", "Tensor.", "NPU."};
  constexpr std::string_view kForward = ".forward";
  if (const auto slash = op.rfind('/'); slash != op.npos) op.remove_prefix(slash + 1);
  if (!op.ends_with(kForward)) return {};
  op.remove_suffix(kForward.size());
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                        [&](std::string_view one) { return op.starts_with(one); });
  const std::size_t dot = op.rfind('.');
  if (kind == kKinds.end() || dot < kind->size() || !is_number(op.substr(dot + 1))) return {};
  return op.substr(kind->size(), dot - kind->size());
}

}  // namespace

const PositionalCall* find_positional_call(std::string_view recorded_op) {
  const std::string_view function = function_of(recorded_op);
  if (function.empty()) return nullptr;
  for (const PositionalCall& call : positional_calls()) {
    if (call.function == function) return &call;
  }
  return nullptr;
}

std::string place_of_argument(const PositionalCall& call, std::string_view name) {
  const auto found = std::find(call.arguments.begin(), call.arguments.end(), name);
  return found == call.arguments.end() || name.empty()
             ? ""
             : std::to_string(found - call.arguments.begin());
}

std::string place_of_result(std::string_view name) {
  constexpr std::string_view kResult = "result";
  if (!name.starts_with(kResult)) return {};
  name.remove_prefix(kResult.size());
  if (name.empty()) return "0";
  return is_number(name) ? std::string(name) : "";
}

bool takes_argument(const PositionalCall& call, std::string_view recorded) {
  return std::any_of(call.arguments.begin(), call.arguments.end(), [&](const std::string& one) {
    const auto place = std::to_string(&one - call.arguments.data());
    return !one.empty() && (recorded == place || recorded == one);
  });
}

}  // namespace opbench
