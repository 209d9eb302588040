#include <algorithm>

#include "profiles/time_table.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

constexpr int kMicro = 6, kMilli = 9, kNano = 3;

struct NamedColumn {
  TimeColumn column;
  std::string_view name;
};

/// A table by the columns that no other table has together, and where its times are.
struct KnownTable {
  TimeTableKind kind;
  int scale;
  std::vector<std::string_view> required;
  std::vector<NamedColumn> columns;
};

// Headers as the tools write them, in lower case; see docs/ingest.md.
const std::vector<KnownTable>& known_tables() {
  using C = TimeColumn;
  static const std::vector<KnownTable> tables = {
      {TimeTableKind::task_time,
       kMicro,
       {"kernel_type", "task_time(us)"},
       {{C::name, "kernel_name"},
        {C::core, "kernel_type"},
        {C::stream, "stream_id"},
        {C::start, "task_start(us)"},
        {C::duration, "task_time(us)"}}},
      {TimeTableKind::task_time,
       kMicro,
       {"time(us)", "waiting(us)", "type", "op name"},
       {{C::name, "op name"},
        {C::core, "type"},
        {C::stream, "stream id"},
        {C::duration, "time(us)"},
        {C::count, "count"},
        {C::least, "min(us)"},
        {C::most, "max(us)"}}},
      {TimeTableKind::framework_raw, kMilli, {"op_info", "task_id", "stream_id"}, {}},
      {TimeTableKind::aicore_types,
       kMilli,
       {"op_type", "execution_time", "execution_frequency"},
       {{C::type, "op_type"}, {C::duration, "execution_time"}, {C::count, "execution_frequency"}}},
      {TimeTableKind::aicpu_times,
       kMilli,
       {"kernel_type", "dispatch_time", "execution_time"},
       {{C::type, "kernel_type"}, {C::duration, "execution_time"}}},
      {TimeTableKind::aicore_times,
       kMilli,
       {"full_op_name", "execution_time"},
       {{C::name, "full_op_name"}, {C::duration, "execution_time"}}},
      {TimeTableKind::aicore_times,
       kMilli,
       {"full_kernel_name", "execution_time"},
       {{C::name, "full_kernel_name"}, {C::duration, "execution_time"}}},
      {TimeTableKind::kernel_sums,
       kNano,
       {"total time (ns)", "instances", "name"},
       {{C::name, "name"},
        {C::duration, "total time (ns)"},
        {C::count, "instances"},
        {C::least, "min (ns)"},
        {C::most, "max (ns)"},
        {C::least, "minimum (ns)"},
        {C::most, "maximum (ns)"}}},
      {TimeTableKind::nvprof_sums,
       0,
       {"time(%)", "time", "calls", "avg", "min", "max", "name"},
       {{C::name, "name"},
        {C::type, "type"},
        {C::duration, "time"},
        {C::count, "calls"},
        {C::least, "min"},
        {C::most, "max"}}},
      {TimeTableKind::operator_details,
       kMicro,
       {"name", "input shapes", "host self duration(us)"},
       {{C::name, "name"}}},
      {TimeTableKind::step_times, kMicro, {"step", "computing", "communication", "free"}, {}},
  };
  return tables;
}

}  // namespace

std::string_view name(TimeTableKind kind) {
  switch (kind) {
    case TimeTableKind::task_time:
      return "task_time";
    case TimeTableKind::aicore_times:
      return "aicore_intermediate";
    case TimeTableKind::aicore_types:
      return "aicore_intermediate by type";
    case TimeTableKind::aicpu_times:
      return "aicpu_intermediate";
    case TimeTableKind::framework_raw:
      return "framework_raw";
    case TimeTableKind::kernel_sums:
      return "cuda_gpu_kern_sum";
    case TimeTableKind::nvprof_sums:
      return "nvprof";
    case TimeTableKind::operator_details:
      return "operator_details";
    case TimeTableKind::step_times:
      break;
  }
  return "step_trace_time";
}

std::optional<std::size_t> TimeTable::place(std::string_view header_name) const {
  const auto found = std::find(header.begin(), header.end(), header_name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

std::optional<TimeTable> recognise_time_table(const std::vector<std::string>& header) {
  TimeTable table;
  for (const std::string& cell : header) table.header.push_back(in_lower_case(cell));
  for (const KnownTable& known : known_tables()) {
    const bool is_this = std::all_of(known.required.begin(), known.required.end(),
                                     [&](std::string_view name) { return table.place(name); });
    if (!is_this) continue;
    table.kind = known.kind;
    table.scale = known.scale;
    for (const NamedColumn& column : known.columns) {
      auto& place = table.places[static_cast<std::size_t>(column.column)];
      if (!place) place = table.place(column.name);
    }
    return table;
  }
  return std::nullopt;
}

TableHeader find_header(TableReader& table) {
  constexpr int kMostBanner = 50;
  for (int i = 0; i < kMostBanner && table.next(); ++i) {
    std::vector<std::string> header;
    for (std::size_t c = 0; c < table.size(); ++c) header.emplace_back(table.cell(c));
    while (!header.empty() && header.back().empty()) header.pop_back();  // a comma at the end
    if (const auto tasks = recognise_table(header)) return {tasks, {}};
    if (const auto times = recognise_time_table(header)) return {{}, times};
  }
  return {};
}

}  // namespace opbench
