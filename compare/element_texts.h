#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/witness.h"

namespace opbench {

/// Elements in logical order as Python has them: the shortest text that reads back as the same
/// number, "inf", "nan", "-0.0".
std::vector<std::string> element_texts(const Tensor& tensor);

/// What is expected of the recorded output: rounded to its dtype, or as it is where rounding is
/// what is wrong.
std::vector<std::string> expected_texts(const Witness& witness);

/// "1, 2, 3" in lines of at most about 100 letters, those after the first behind `indent`.
std::string number_list(const std::vector<std::string>& numbers, std::string_view indent);

/// "[1, 4]"
std::string shape_text(const Dims& shape);

}  // namespace opbench
