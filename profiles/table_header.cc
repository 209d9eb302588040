#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiles/time_table.h"
#include "tensor/utf8.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostOps = 500'000;

// The dtype in "NUMBER_TYPE_FLOAT16"; UNKNOWN if the compiler has not set it.
std::string compiler_dtype(const std::string& type) {
  constexpr std::string_view kBegin = "NUMBER_TYPE_";
  if (type.starts_with(kBegin)) return type.substr(kBegin.size());
  return type == "UNKNOWN" ? "UNDEFINED" : type;
}

struct SideTexts {
  std::string &shapes, &dtypes, &formats;
};

void append_tensor(const Json& tensor, bool is_first, SideTexts side) {
  const std::string between = is_first ? "" : ";";
  side.shapes += between + text_member(tensor, "shape");
  side.dtypes += between + compiler_dtype(text_member(tensor, "data_type"));
  side.formats += between + text_member(tensor, "format");
}

struct NamedColumn {
  TimeColumn column;
  std::string_view name;
};

/// A table, the columns that identify it, and the columns of its times.
struct KnownTable {
  TimeTableKind kind;
  int scale;
  std::vector<std::string_view> required;
  std::vector<NamedColumn> columns;
};

// Headers of the tools in lower case; see docs/ingest.md.
const std::vector<KnownTable>& known_tables() {
  using C = TimeColumn;
  static const std::vector<KnownTable> tables = {
      {TimeTableKind::task_time,
       kMicroToPico,
       {"kernel_type", "task_time(us)"},
       {{C::name, "kernel_name"},
        {C::core, "kernel_type"},
        {C::stream, "stream_id"},
        {C::start, "task_start(us)"},
        {C::duration, "task_time(us)"}}},
      {TimeTableKind::task_time,
       kMicroToPico,
       {"time(us)", "waiting(us)", "type", "op name"},
       {{C::name, "op name"},
        {C::core, "type"},
        {C::stream, "stream id"},
        {C::duration, "time(us)"},
        {C::count, "count"},
        {C::least, "min(us)"},
        {C::most, "max(us)"}}},
      {TimeTableKind::framework_raw, kMilliToPico, {"op_info", "task_id", "stream_id"}, {}},
      {TimeTableKind::aicore_types,
       kMilliToPico,
       {"op_type", "execution_time", "execution_frequency"},
       {{C::type, "op_type"}, {C::duration, "execution_time"}, {C::count, "execution_frequency"}}},
      {TimeTableKind::aicpu_times,
       kMilliToPico,
       {"kernel_type", "dispatch_time", "execution_time"},
       {{C::type, "kernel_type"}, {C::duration, "execution_time"}}},
      {TimeTableKind::aicore_times,
       kMilliToPico,
       {"full_op_name", "execution_time"},
       {{C::name, "full_op_name"}, {C::duration, "execution_time"}}},
      {TimeTableKind::aicore_times,
       kMilliToPico,
       {"full_kernel_name", "execution_time"},
       {{C::name, "full_kernel_name"}, {C::duration, "execution_time"}}},
      {TimeTableKind::kernel_sums,
       kNanoToPico,
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
       kMicroToPico,
       {"name", "input shapes", "host self duration(us)"},
       {{C::name, "name"}}},
      {TimeTableKind::step_times, kMicroToPico, {"step", "computing", "communication", "free"}, {}},
  };
  return tables;
}

}  // namespace

bool FrameworkOps::add(std::string_view name, std::string_view type, std::string_view blocks,
                       std::string_view op_info) {
  if (ops_.size() >= kMostOps) return true;
  Op& op = ops_[std::string(name)];
  op = {};
  op.type = type;
  if (const auto dim = parse_decimal(blocks, 0)) op.blocks = dim->units;
  const Json info = Json::parse(op_info, nullptr, false);
  if (!info.is_object()) return op_info.empty();
  int inputs = 0, outputs = 0;
  for (const auto& [key, tensor] : info.items()) {
    if (!tensor.is_object()) continue;
    if (key.starts_with("input_")) {
      append_tensor(tensor, inputs++ == 0, {op.input_shapes, op.input_dtypes, op.input_formats});
    } else if (key.starts_with("output_")) {
      append_tensor(tensor, outputs++ == 0,
                    {op.output_shapes, op.output_dtypes, op.output_formats});
    }
  }
  op.has_tensors = inputs + outputs > 0;
  return true;
}

const FrameworkOps::Op* FrameworkOps::find(std::string_view name) const {
  const auto found = ops_.find(std::string(name));
  return found == ops_.end() ? nullptr : &found->second;
}

void describe_task(const FrameworkOps::Op& op, DeviceTask& task) {
  task.type = op.type;
  task.blocks = op.blocks;
  task.has_tensors = op.has_tensors;
  task.inputs = {op.input_shapes, op.input_dtypes, op.input_formats};
  task.outputs = {op.output_shapes, op.output_dtypes, op.output_formats};
}

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
