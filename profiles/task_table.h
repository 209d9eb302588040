#pragma once

#include <functional>
#include <string>
#include <vector>

#include "profiles/table_kind.h"
#include "profiles/table_reader.h"
#include "profiles/task.h"

namespace opbench {

/// Gives every row of a table of tasks, op_summary, kernel_details or OpBasicInfo, to `use`. Rows
/// without a duration are skipped.
void read_tasks(TableReader& table, const TableLayout& layout,
                const std::function<void(const DeviceTask&)>& use);

/// A row of op_statistic: the tasks of one type on one kind of core.
struct StatisticRow {
  std::string type, core;
  std::int64_t count = 0;
  Decimal total, least, most;  ///< in picoseconds
  bool has_extremes = true;    ///< tells least and most
};

/// All rows of a table op_statistic; those without a count or a time are skipped.
std::vector<StatisticRow> read_statistic(TableReader& table, const TableLayout& layout);

}  // namespace opbench
