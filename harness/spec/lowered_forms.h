#pragma once

#include <string_view>
#include <vector>

namespace opbench {

/// The variants of an operator that a context writes out as several of the framework's operators
/// (see lowering.h); empty: it is always one operator.
std::vector<std::string_view> lowered_forms(std::string_view op);

}  // namespace opbench
