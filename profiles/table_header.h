#pragma once

#include <optional>

#include "profiles/task_table.h"
#include "profiles/time_table.h"

namespace opbench {

/// What a table is by its header; at most one of the two.
struct TableHeader {
  std::optional<TableLayout> tasks;
  std::optional<TimeTable> times;
};

/// Reads up to the header, over the banner that tools print in front of it. Neither where the first
/// lines hold none.
TableHeader find_header(TableReader& table);

}  // namespace opbench
