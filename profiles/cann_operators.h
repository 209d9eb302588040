#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/op_table.h"

namespace opbench {

/// What an operator of CANN, or a call of PyTorch in a trace, calls its tensors, in their order.
/// Empty: no operand. "=axes": numbers on the host, the attribute of that name. The last input may
/// be "x_*": it stands for all that follow, x_0, x_1, ...
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

/// The rows of profiles/cann_operators.yaml, which is part of the program.
const std::vector<CannOperator>& cann_operators();

/// The operator called so; null where its tensors are those of its row in the operator table.
const CannOperator* find_cann_operator(std::string_view name);

/// The name of input `i`, or of output `i`, by such a list; empty: no operand.
std::string tensor_name(const std::vector<std::string>& names, std::size_t i);

/// The operator table with the rows of profiles/profile_rows.yaml in front, which are for
/// profiles and logs alone.
const OpTable& profile_op_table();

}  // namespace opbench
