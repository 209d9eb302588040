#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// What an operator of CANN, or a call of PyTorch in a trace, calls its tensors, in their order: a
/// ProfiledCall (ops/known_as.h) in parts.
struct CannOperator {
  std::vector<std::string> names;  ///< of operators with these tensors
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> scalars;  ///< operands that are no tensors of it but numbers
  std::string each;                  ///< what it computes for each tensor of its lists
  std::size_t lists = 0;             ///< how many lists of tensors that takes
  std::vector<std::string> into;     ///< operators on the same tensors that together compute it
  std::string gives;                 ///< the input whose shape its result has; empty: not told
  std::string part_of;               ///< the operator that completes what it begins
};

/// Those that the operators of the registry say of themselves.
const std::vector<CannOperator>& cann_operators();

/// The operator called so; null where its tensors are those of its row in the operator table.
const CannOperator* find_cann_operator(std::string_view name);

/// The name of input `i`, or of output `i`, by such a list; empty: no operand.
std::string tensor_name(const std::vector<std::string>& names, std::size_t i);

}  // namespace opbench
