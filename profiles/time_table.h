#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/table_reader.h"
#include "profiles/task.h"
#include "profiles/task_table.h"
#include "profiles/trace_profile.h"

namespace opbench {

/// Operators of a graph by their full names. MindSpore's framework_raw_*.csv lists them without
/// times.
class FrameworkOps {
 public:
  struct Op {
    std::string type;
    std::optional<std::int64_t> blocks;
    bool has_tensors = false;
    std::string input_shapes, input_dtypes, input_formats;
    std::string output_shapes, output_dtypes, output_formats;
  };

  /// `op_info` is JSON, {"input_0": {"format", "data_type", "shape"}, .., "output_0": ..}. Returns
  /// false if it is not; the operator is added anyway.
  bool add(std::string_view name, std::string_view type, std::string_view blocks,
           std::string_view op_info);
  /// Null if no table lists the operator.
  const Op* find(std::string_view name) const;
  bool empty() const { return ops_.empty(); }

 private:
  std::unordered_map<std::string, Op> ops_;
};

/// Sets type, shapes, dtypes and formats of the task; the texts are those of `op`.
void describe_task(const FrameworkOps::Op& op, DeviceTask& task);

/// Tables of times from other profilers and from other commands of msprof.
enum class TimeTableKind {
  task_time,         ///< msprof: computing tasks; the old table sums up equal tasks
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

/// Contents of a column.
enum class TimeColumn { name, type, core, stream, start, duration, least, most, count };
inline constexpr std::size_t kTimeColumns = 9;

/// A recognised header.
struct TimeTable {
  TimeTableKind kind = TimeTableKind::task_time;
  int scale = 0;                    ///< digits from the table's unit of time to picoseconds
  std::vector<std::string> header;  ///< in lower case
  std::optional<std::size_t> places[kTimeColumns];

  std::optional<std::size_t> place(std::string_view header_name) const;
};

/// The layout of a table of times from its header; empty for other tables.
std::optional<TimeTable> recognise_time_table(const std::vector<std::string>& header);

/// Destinations for the rows of tables of times.
struct TimeTableSinks {
  HotSpots& spots;
  TraceProfile& trace;
  FrameworkOps& framework;
  std::vector<StatisticRow>& statistic;
};

/// Reads the rows after the header. Returns the number of used rows. Rows without a time are
/// skipped.
std::int64_t read_time_table(TableReader& table, const TimeTable& layout, TimeTableSinks sinks);

/// The kind of a table from its header; at most one of the two is set.
struct TableHeader {
  std::optional<TableLayout> tasks;
  std::optional<TimeTable> times;
};

/// Reads up to the header and skips the banner before it. Both are empty if the first lines do not
/// have a header.
TableHeader find_header(TableReader& table);

}  // namespace opbench
