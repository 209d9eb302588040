#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// The operators of PyTorch in the table that torch.autograd.profiler prints, or in its trace:
/// "aten::add_", each once. PyTorch 1.5 prints them without a namespace.
std::vector<std::string> framework_operators(std::string_view text);

/// Names of operators in a list of any form: one a line, the tables of Ascend's documents, or
/// names such as "aten::add.Tensor" and "torch_npu.npu_iou". Lines that state 否 ("no") are left
/// out.
class OperatorList {
 public:
  explicit OperatorList(std::string_view text);

  /// True for "aten::add", "add" and "add.Tensor" if "add" is listed.
  bool has(std::string_view op) const { return names_.contains(name_of(op)); }
  bool empty() const { return names_.empty(); }

 private:
  // "add" of "aten::add.Tensor".
  static std::string_view name_of(std::string_view op);

  std::set<std::string, std::less<>> names_;
};

}  // namespace opbench
