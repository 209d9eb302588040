#pragma once

#include <string>
#include <string_view>

namespace opbench {

/// The inputs of an operator as PyTorch's traces write them, "[[32, 3, 224, 224], [], [[2], [3]]]"
/// or "32,3,224,224;\r\n;\r\n", as tables of tasks do: "32,3,224,224;;[2][3]". Tensors of a list
/// stand in brackets; what is no tensor has no extents.
void append_input_shapes(std::string_view dims, std::string& to);

/// Types of them, `["float", "Scalar", ""]` or "float;\r\nScalar", as "FLOAT;Scalar;". Tensors'
/// types are spelled as tables of tasks do; what is no tensor keeps its name.
void append_input_dtypes(std::string_view types, std::string& to);

/// Values of what is no tensor, `["", "[1, 1]", "False"]`, as ";[1, 1];False".
void append_input_values(std::string_view values, std::string& to);

/// The same without what is no whole number, list or flag: learning rates change with every step.
void append_steady_values(std::string_view values, std::string& to);

}  // namespace opbench
