#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// What an operator of CANN calls its tensors, in their order. Empty: no operand. The last input
/// may be "x_*": it stands for all that follow, x_0, x_1, ...
struct CannOperator {
  std::vector<std::string> names;  ///< of operators with these tensors
  std::vector<std::string> inputs, outputs;
};

/// The rows of harness/profile/cann_operators.yaml, which is part of the program.
const std::vector<CannOperator>& cann_operators();

/// The operator called so; null where its tensors are those of its row in the operator table.
const CannOperator* find_cann_operator(std::string_view name);

/// The name of input `i`, or of output `i`, by such a list; empty: no operand.
std::string tensor_name(const std::vector<std::string>& names, std::size_t i);

}  // namespace opbench
