#include "profiles/task_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

constexpr std::pair<std::string_view, TableColumn> kColumnNames[] = {
    {"device_id", TableColumn::device},
    {"device id", TableColumn::device},
    {"step id", TableColumn::step},
    {"stream id", TableColumn::stream},
    {"name", TableColumn::name},
    {"op name", TableColumn::name},
    {"type", TableColumn::type},
    {"op type", TableColumn::type},
    {"op state", TableColumn::state},
    {"accelerator core", TableColumn::core},
    {"task type", TableColumn::core},
    {"core type", TableColumn::core},
    {"start time(us)", TableColumn::start},
    {"task start time(us)", TableColumn::start},
    {"task start time", TableColumn::start},
    {"duration(us)", TableColumn::duration},
    {"task duration(us)", TableColumn::duration},
    {"wait time(us)", TableColumn::wait},
    {"task wait time(us)", TableColumn::wait},
    {"block dim", TableColumn::blocks},
    {"block num", TableColumn::blocks},
    {"input shapes", TableColumn::input_shapes},
    {"input data types", TableColumn::input_dtypes},
    {"input data type", TableColumn::input_dtypes},
    {"input formats", TableColumn::input_formats},
    {"output shapes", TableColumn::output_shapes},
    {"output data types", TableColumn::output_dtypes},
    {"output data type", TableColumn::output_dtypes},
    {"output formats", TableColumn::output_formats},
    {"count", TableColumn::count},
    {"total time(us)", TableColumn::total},
    {"min time(us)", TableColumn::least},
    {"avg time(us)", TableColumn::mean},
    {"max time(us)", TableColumn::most},
    {"ratio(%)", TableColumn::ratio},
};

// Columns in the order of Pipe.
constexpr std::string_view kPipeNames[] = {"mac_ratio",  "vec_ratio",  "scalar_ratio", "mte1_ratio",
                                           "mte2_ratio", "mte3_ratio", "fixpipe_ratio"};

// Metrics of msprof's sets ArithmeticUtilization, Memory, MemoryL0, MemoryUB, L2Cache and
// ResourceConflictRatio; a table has those of one set.
bool is_metric(std::string_view name) {
  constexpr std::string_view kEnds[] = {"_ratio", "_fops", "(gb/s)", "_cache_hit",
                                        "_miss_allocate"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return name.ends_with(end); });
}

void place_column(const std::string& header, std::size_t index, TableLayout& layout) {
  const std::string name = in_lower_case(header);
  for (const auto& [known, column] : kColumnNames) {
    auto& place = layout.places[static_cast<std::size_t>(column)];
    if (name == known && !place) place = index;
  }
  std::string_view pipe = name;
  if (pipe.starts_with("aic_") || pipe.starts_with("aiv_")) pipe.remove_prefix(4);
  const auto found = std::find(std::begin(kPipeNames), std::end(kPipeNames), pipe);
  if (found != std::end(kPipeNames)) {
    layout.pipes.push_back({static_cast<std::size_t>(found - std::begin(kPipeNames)), index});
  } else if (is_metric(name)) {
    layout.metrics.push_back({header, index});
  }
}

std::optional<TableKind> kind_of(const std::vector<std::string>& names, const TableLayout& layout) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (layout.place(TableColumn::total) && layout.place(TableColumn::core) &&
      layout.place(TableColumn::count)) {
    return TableKind::op_statistic;
  }
  if (!layout.place(TableColumn::duration) || !layout.place(TableColumn::name)) return {};
  if (has("task duration(us)")) {
    return has("current freq") || has("pid") ? TableKind::op_basic_info : TableKind::op_summary;
  }
  const bool is_kernel = layout.place(TableColumn::core) || layout.place(TableColumn::type);
  return is_kernel ? std::optional(TableKind::kernel_details) : std::nullopt;
}

}  // namespace

std::string_view name(TableKind kind) {
  switch (kind) {
    case TableKind::kernel_details:
      return "kernel_details";
    case TableKind::op_summary:
      return "op_summary";
    case TableKind::op_statistic:
      return "op_statistic";
    case TableKind::op_basic_info:
      break;
  }
  return "OpBasicInfo";
}

std::optional<TableLayout> recognise_table(const std::vector<std::string>& header) {
  TableLayout layout;
  layout.columns = header.size();
  std::vector<std::string> names;
  for (const std::string& cell : header) {
    names.push_back(in_lower_case(cell));
    place_column(cell, names.size() - 1, layout);
  }
  const std::optional<TableKind> kind = kind_of(names, layout);
  if (!kind) return std::nullopt;
  layout.kind = *kind;
  return layout;
}

namespace {

/// The cells of a row by the content of their column.
class TableRow {
 public:
  TableRow(TableReader& table, const TableLayout& layout) : table_(table), layout_(layout) {}

  /// Empty if the table has no such column or the cell is "N/A".
  std::string_view text(TableColumn column) const {
    const auto place = layout_.place(column);
    if (!place) return {};
    const std::string_view cell = table_.cell(*place);
    return cell == "N/A" ? std::string_view() : cell;
  }
  /// Cells of shapes keep their own pair of quotes; an empty pair is one scalar.
  std::string_view shapes(TableColumn column) const {
    std::string_view cell = text(column);
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
      cell.remove_prefix(1);
      cell.remove_suffix(1);
    }
    return cell;
  }
  /// Skips the row, since the cell is not a number.
  void skip(TableColumn column, std::string_view what) const {
    constexpr std::size_t kShown = 40;
    const std::string cell = excerpt(text(column), kShown);
    table_.skip(fmt::format("{} '{}' is not a number", what, printable(cell)));
  }

 private:
  TableReader& table_;
  const TableLayout& layout_;
};

std::optional<std::int64_t> units_of(std::string_view text, int scale) {
  const std::optional<Decimal> value = parse_decimal(text, scale);
  return value ? std::optional(value->units) : std::nullopt;
}

std::optional<double> ratio_of(std::string_view text) {
  constexpr int kRatioScale = 9;
  const auto value = parse_decimal(text, kRatioScale);
  if (!value || value->units < 0) return std::nullopt;
  return static_cast<double>(value->units) / 1e9;
}

// Numbers of operations can have 18 digits.
std::optional<double> metric_of(std::string_view text) {
  constexpr int kFineScale = 6;
  if (const auto fine = parse_decimal(text, kFineScale)) {
    return fine->units < 0 ? std::nullopt : std::optional(static_cast<double>(fine->units) / 1e6);
  }
  const auto whole = parse_decimal(text, 0);
  if (!whole || whole->units < 0) return std::nullopt;
  return static_cast<double>(whole->units);
}

void read_metrics(TableReader& table, const TableLayout& layout, std::vector<TaskMetric>& to) {
  to.clear();
  for (const MetricColumn& metric : layout.metrics) {
    const std::optional<double> value = metric_of(table.cell(metric.column));
    if (value) to.push_back({metric.name, *value});
  }
}

void read_pipes(TableReader& table, const TableLayout& layout, DeviceTask& task) {
  task.pipes = {};
  for (const auto& [pipe, column] : layout.pipes) {
    const std::optional<double> ratio = ratio_of(table.cell(column));
    if (ratio) task.pipes[pipe] = std::max(*ratio, task.pipes[pipe].value_or(0));
  }
}

bool read_task(TableReader& table, const TableLayout& layout, DeviceTask& task) {
  const TableRow row(table, layout);
  const auto duration = parse_decimal(row.text(TableColumn::duration), kMicroToPico);
  if (!duration || duration->units < 0) {
    row.skip(TableColumn::duration, "duration");
    return false;
  }
  task.duration_ps = duration->units;
  task.duration_digits = duration->digits;
  task.name = row.text(TableColumn::name);
  task.type = row.text(TableColumn::type);
  task.core = row.text(TableColumn::core);
  task.state = row.text(TableColumn::state);
  task.step = row.text(TableColumn::step);
  task.device = row.text(TableColumn::device);
  task.stream = row.text(TableColumn::stream);
  task.start_ns = units_of(row.text(TableColumn::start), kMicroToNano);
  task.wait_ps = units_of(row.text(TableColumn::wait), kMicroToPico);
  task.blocks = units_of(row.text(TableColumn::blocks), 0);
  task.has_tensors =
      !row.text(TableColumn::input_shapes).empty() || !row.text(TableColumn::output_shapes).empty();
  task.inputs = {row.shapes(TableColumn::input_shapes), row.text(TableColumn::input_dtypes),
                 row.text(TableColumn::input_formats)};
  task.outputs = {row.shapes(TableColumn::output_shapes), row.text(TableColumn::output_dtypes),
                  row.text(TableColumn::output_formats)};
  read_pipes(table, layout, task);
  task.line = table.line();
  return true;
}

// True for a repeated header, as in a table that was joined from slices.
bool is_header(TableReader& table, const TableLayout& layout) {
  const auto place = layout.place(TableColumn::duration);
  const std::string_view cell = table.cell(place ? *place : *layout.place(TableColumn::total));
  return cell.ends_with("(us)");
}

}  // namespace

void read_tasks(TableReader& table, const TableLayout& layout,
                const std::function<void(const DeviceTask&)>& use) {
  const std::string file = table.skipped().file();
  table.expect_columns(layout.columns);
  DeviceTask task;
  task.file = file;
  std::vector<TaskMetric> metrics;
  while (table.next()) {
    if (is_header(table, layout) || !read_task(table, layout, task)) continue;
    read_metrics(table, layout, metrics);
    task.metrics = metrics;
    use(task);
  }
}

std::vector<StatisticRow> read_statistic(TableReader& table, const TableLayout& layout) {
  std::vector<StatisticRow> rows;
  table.expect_columns(layout.columns);
  while (table.next()) {
    if (is_header(table, layout)) continue;
    const TableRow row(table, layout);
    const auto count = units_of(row.text(TableColumn::count), 0);
    const auto total = parse_decimal(row.text(TableColumn::total), kMicroToPico);
    if (!count || !total) {
      row.skip(count ? TableColumn::total : TableColumn::count, count ? "total time" : "count");
      continue;
    }
    const auto time = [&](TableColumn column) {
      return parse_decimal(row.text(column), kMicroToPico).value_or(Decimal{});
    };
    rows.push_back({std::string(row.text(TableColumn::type)),
                    std::string(row.text(TableColumn::core)), *count, *total,
                    time(TableColumn::least), time(TableColumn::most), true});
  }
  return rows;
}

}  // namespace opbench
