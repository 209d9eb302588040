#pragma once

#include <nlohmann/json_fwd.hpp>

#include "text/cell.h"

namespace opbench {

/// What a cell holds, null where it holds nothing or no finite number.
nlohmann::ordered_json cell_value(const Cell& cell);

}  // namespace opbench
