#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Which operators of one dump are which of the other, and which of their parameters.
struct NameMap {
  /// Operator of either dump -> what it may be called in the other, best first.
  std::map<std::string, std::vector<std::string>, std::less<>> ops;
  /// Operator of the dump that is looked from -> its parameter -> the other dump's.
  std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> params;
  /// Operators whose calls are counted together, as if they were one.
  std::vector<std::string> counted_together;
};

/// What get_op_map of Ascend's PyTorch 1.5 knows: the convolution and batch-norm gradients.
const NameMap& default_name_map();

}  // namespace opbench
