#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Maps operators and their parameters between two dumps.
struct NameMap {
  /// Operator of either dump -> possible names in the other, best first.
  std::map<std::string, std::vector<std::string>, std::less<>> ops;
  /// Operator of one dump -> its parameter -> the parameter in the other dump.
  std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> params;
  /// Operators whose calls are counted together, like those of a single operator.
  std::vector<std::string> counted_together;
};

/// The map of get_op_map in Ascend's PyTorch 1.5: the gradients of convolution and batch norm.
const NameMap& default_name_map();

}  // namespace opbench
