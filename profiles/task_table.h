#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/table_reader.h"
#include "profiles/task.h"

namespace opbench {

/// The tables of profilers that list tasks or sum them up.
enum class TableKind { kernel_details, op_summary, op_statistic, op_basic_info };

/// "kernel_details", ...
std::string_view name(TableKind kind);

/// Contents of a column; generations of the profiler name them differently.
enum class TableColumn {
  device,
  step,
  stream,
  name,
  type,
  state,
  core,
  start,
  duration,
  wait,
  blocks,
  input_shapes,
  input_dtypes,
  input_formats,
  output_shapes,
  output_dtypes,
  output_formats,
  count,
  total,
  least,
  mean,
  most,
  ratio,
};
inline constexpr std::size_t kTableColumns = 23;

/// Columns with the busy share of a part of a core: of cube cores, of vector cores, or of both.
struct PipeColumns {
  std::size_t pipe = 0;
  std::size_t column = 0;
};

/// A column with another metric of the profiler.
struct MetricColumn {
  std::string name;  ///< its header
  std::size_t column = 0;
};

/// A header that was recognised.
struct TableLayout {
  TableKind kind = TableKind::kernel_details;
  std::size_t columns = 0;
  std::array<std::optional<std::size_t>, kTableColumns> places = {};
  std::vector<PipeColumns> pipes;
  std::vector<MetricColumn> metrics;

  std::optional<std::size_t> place(TableColumn column) const {
    return places[static_cast<std::size_t>(column)];
  }
};

/// The layout of a table from its header, for all generations from CANN 5.1 on. Empty for other
/// tables. Source: published headers of msprof and torch_npu.
std::optional<TableLayout> recognise_table(const std::vector<std::string>& header);

/// Passes every row of a table of tasks (op_summary, kernel_details or OpBasicInfo) to `use`. Rows
/// without a duration are skipped.
void read_tasks(TableReader& table, const TableLayout& layout,
                const std::function<void(const DeviceTask&)>& use);

/// A row of op_statistic: the tasks of one type on one kind of core.
struct StatisticRow {
  std::string type, core;
  std::int64_t count = 0;
  Decimal total, least, most;  ///< in picoseconds
  bool has_extremes = true;    ///< the table has least and most
};

/// All rows of an op_statistic table. Rows without a count or a time are skipped.
std::vector<StatisticRow> read_statistic(TableReader& table, const TableLayout& layout);

}  // namespace opbench
