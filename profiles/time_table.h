#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/framework_ops.h"
#include "profiles/hot_spots.h"
#include "profiles/table_reader.h"
#include "profiles/task_table.h"
#include "profiles/trace_profile.h"

namespace opbench {

/// Tables of times that other profilers and other commands of msprof write.
enum class TimeTableKind {
  task_time,         ///< msprof: tasks, those that compute; the old one sums up equal tasks
  aicore_times,      ///< MindSpore's aicore_intermediate_*_detail.csv, milliseconds
  aicore_types,      ///< MindSpore's aicore_intermediate_*_type.csv
  aicpu_times,       ///< MindSpore's aicpu_intermediate_*.csv
  framework_raw,     ///< MindSpore's operators, without times
  kernel_sums,       ///< nsys stats --report cuda_gpu_kern_sum, nanoseconds
  nvprof_sums,       ///< nvprof --csv, with a line of units
  operator_details,  ///< torch_npu: operators of the host
  step_times,        ///< torch_npu: step_trace_time.csv
};

/// "task_time", ...
std::string_view name(TimeTableKind kind);

/// What a column holds.
enum class TimeColumn { name, type, core, stream, start, duration, least, most, count };
inline constexpr std::size_t kTimeColumns = 9;

/// A header that was recognised.
struct TimeTable {
  TimeTableKind kind = TimeTableKind::task_time;
  int scale = 0;                    ///< digits from its unit of time to picoseconds
  std::vector<std::string> header;  ///< in lower case
  std::optional<std::size_t> places[kTimeColumns];

  std::optional<std::size_t> place(std::string_view header_name) const;
};

/// The layout of such a table by its header; nothing where it is none of them.
std::optional<TimeTable> recognise_time_table(const std::vector<std::string>& header);

/// What tables of times are read into.
struct TimeTableSinks {
  HotSpots& spots;
  TraceProfile& trace;
  FrameworkOps& framework;
  std::vector<StatisticRow>& statistic;
};

/// Reads the rows behind the header. Returns how many told something; rows without a time are
/// skipped.
std::int64_t read_time_table(TableReader& table, const TimeTable& layout, TimeTableSinks sinks);

/// What a table is by its header; at most one of the two.
struct TableHeader {
  std::optional<TableLayout> tasks;
  std::optional<TimeTable> times;
};

/// Reads up to the header, over the banner that tools print in front of it. Neither where the first
/// lines hold none.
TableHeader find_header(TableReader& table);

}  // namespace opbench
