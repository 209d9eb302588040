#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// A function of PyTorch or torch_npu whose dump names arguments by their places:
/// "Functional.linear.0.forward" of msprobe has the tensors 0, 1 and 2.
struct PositionalCall {
  std::string_view function;  ///< as in the dump: "__add__"
  std::string_view name;      ///< in the table of operators: "add"
  /// In the order of the function. Empty: must not be given.
  std::vector<std::string> arguments;
  /// The leading axes of the first argument and of the result are the rows of one matrix.
  bool joins_rows = false;
};

/// The call that a forward record of msprobe stands for; null: another record, or a function whose
/// arguments are not known.
const PositionalCall* find_positional_call(std::string_view recorded_op);

/// The place of an argument, or of a result "result", "result0", "result1", as text; empty: it has
/// none.
std::string place_of_argument(const PositionalCall& call, std::string_view name);
std::string place_of_result(std::string_view name);

/// True if the call has an argument of that recorded place or keyword: "0", "bias".
bool takes_argument(const PositionalCall& call, std::string_view recorded);

}  // namespace opbench
