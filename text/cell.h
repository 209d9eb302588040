#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace opbench {

/// A cell: nothing where the record has no such value.
using Cell = std::variant<std::monostate, std::string, double, std::int64_t, bool>;

}  // namespace opbench
