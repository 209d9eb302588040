#include "profiles/time_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/task.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

/// The rows of one table.
class TimeRows {
 public:
  TimeRows(TableReader& table, const TimeTable& layout, TimeTableSinks sinks)
      : table_(table), layout_(layout), sinks_(sinks), file_(table.skipped().file()) {}

  std::int64_t read() {
    table_.expect_columns(layout_.header.size());
    if (layout_.kind == TimeTableKind::nvprof_sums && !read_units()) return 0;
    std::int64_t rows = 0;
    while (table_.next()) {
      if (!is_header()) rows += read_row() ? 1 : 0;
    }
    return rows;
  }

 private:
  std::string_view text(TimeColumn column) const {
    const auto place = layout_.places[static_cast<std::size_t>(column)];
    return place ? cell(*place) : std::string_view();
  }
  std::string_view text(std::string_view header_name) const {
    const auto place = layout_.place(header_name);
    return place ? cell(*place) : std::string_view();
  }
  std::string_view cell(std::size_t place) const {
    const std::string_view text = table_.cell(place);
    return text == "N/A" ? std::string_view() : text;
  }
  bool is_header() const {
    return in_lower_case(table_.cell(0)) == layout_.header.front() &&
           in_lower_case(table_.cell(1)) == layout_.header[1];
  }

  bool skip_time(std::string_view text) const {
    constexpr std::size_t kShown = 40;
    table_.skip(fmt::format("'{}' is not a time", printable(excerpt(std::string(text), kShown))));
    return false;
  }

  std::optional<Decimal> time(std::string_view text, int scale) const {
    std::optional<Decimal> value = parse_decimal(text, scale);
    if (value && value->units < 0) value.reset();
    // Converts the number of digits to microseconds.
    if (value) value->digits = std::max(0, value->digits + kMicroToPico - scale);
    return value;
  }

  // Reads the units of the columns, "ns", "us", "ms" or "s", from the line after the header.
  bool read_units() {
    if (!table_.next()) return false;
    for (const TimeColumn column : {TimeColumn::duration, TimeColumn::least, TimeColumn::most}) {
      const std::string_view unit = text(column);
      const int scale = unit == "ns"   ? kNanoToPico
                        : unit == "us" ? kMicroToPico
                        : unit == "ms" ? kMilliToPico
                                       : 12;
      if (scale == 12 && unit != "s") {
        table_.skip("no line of units after the header");
        return false;
      }
      scales_[static_cast<std::size_t>(column)] = scale;
    }
    return true;
  }

  int scale_of(TimeColumn column) const {
    const int scale = scales_[static_cast<std::size_t>(column)];
    return scale > 0 ? scale : layout_.scale;
  }

  bool read_row() {
    switch (layout_.kind) {
      case TimeTableKind::framework_raw:
        return read_framework();
      case TimeTableKind::operator_details:
        return read_host_operator();
      case TimeTableKind::step_times:
        return read_step();
      case TimeTableKind::aicore_types:
        return read_type();
      default:
        return read_task();
    }
  }

  bool read_task() {
    const auto duration = time(text(TimeColumn::duration), scale_of(TimeColumn::duration));
    if (!duration) return skip_time(text(TimeColumn::duration));
    DeviceTask task;
    task.file = file_;
    task.line = table_.line();
    task.name = text(TimeColumn::name);
    task.core = text(TimeColumn::core);
    task.stream = text(TimeColumn::stream);
    task.duration_ps = duration->units;
    task.duration_digits = duration->digits;
    if (const auto start = parse_decimal(text(TimeColumn::start), kMicroToNano)) {
      task.start_ns = start->units;
    }
    const std::string_view count = text(TimeColumn::count);
    if (!count.empty()) {
      const auto tasks = parse_decimal(count, 0);
      if (!tasks || tasks->units <= 0) return skip_time(count);
      task.count = tasks->units;
      const auto part = [&](TimeColumn column) {
        const auto value = time(text(column), scale_of(column));
        return value ? std::optional(value->units) : std::nullopt;
      };
      task.least_ps = part(TimeColumn::least);
      task.most_ps = part(TimeColumn::most);
    }
    return add(task);
  }

  bool add(DeviceTask& task) {
    if (layout_.kind == TimeTableKind::task_time && !sinks_.spots.rules().computes(task.core)) {
      sinks_.trace.count_other(task.core, task);
      return true;
    }
    if (layout_.kind == TimeTableKind::nvprof_sums) {
      const std::string_view type = text(TimeColumn::type);
      if (!type.empty() && type != "GPU activities") return true;  // calls of the host
      if (task.name.starts_with("[CUDA mem")) {
        sinks_.trace.count_other(task.name, task);
        return true;
      }
    }
    if (layout_.kind == TimeTableKind::aicpu_times) {
      task.type = text(TimeColumn::type);
      task.core = "AI_CPU";
    }
    if (layout_.kind == TimeTableKind::aicore_times) {
      if (const FrameworkOps::Op* op = sinks_.framework.find(task.name)) {
        describe_task(*op, task);
      } else {
        task.type = type_of_task_name(task.name);
      }
    }
    if (layout_.kind == TimeTableKind::kernel_sums || layout_.kind == TimeTableKind::nvprof_sums) {
      task.type = short_kernel_name(task.name);
      task.has_kernel_name = true;
    }
    sinks_.spots.add(task);
    return true;
  }

  bool read_type() {
    const auto total = parse_decimal(text(TimeColumn::duration), layout_.scale);
    const auto count = parse_decimal(text(TimeColumn::count), 0);
    if (!total || !count) return skip_time(text(TimeColumn::duration));
    const Decimal in_us{total->units, std::max(0, total->digits - 3)};
    sinks_.statistic.push_back(
        {std::string(text(TimeColumn::type)), "", count->units, in_us, {}, {}, false});
    return true;
  }

  bool read_framework() {
    const std::string_view old_name = text("full_op_name");
    const bool is_old = !old_name.empty();
    const std::string_view name = is_old ? old_name : text("full_kernel_name");
    if (!sinks_.framework.add(name, is_old ? text("op_type") : text("kernel_type"),
                              text("block_dim"), text("op_info"))) {
      table_.skip("op_info is not JSON");
    }
    return true;
  }

  bool read_host_operator() {
    const auto host = time(text("host self duration(us)"), kMicroToPico);
    if (!host) return skip_time(text("host self duration(us)"));
    const auto device = time(text("device self duration(us)"), kMicroToPico).value_or(Decimal{});
    TraceEvent event;
    event.name = text(TimeColumn::name);
    event.input_dims = text("input shapes");
    TraceOperator& op =
        sinks_.trace.operators()[sinks_.trace.operator_of(event, file_, table_.line())];
    ++sinks_.trace.host_operators;
    sinks_.trace.host_operators_with_shapes += event.input_dims.empty() ? 0 : 1;
    ++op.calls;
    add_saturated(op.host_self_ns, host->units / 1000);
    if (device.units == 0) return true;
    ++op.launching;
    op.kernels.add(device.units, device.digits);
    return true;
  }

  bool read_step() {
    constexpr std::size_t kMostTableSteps = 100'000;
    const auto computing = time(text("computing"), kMicroToPico);
    const auto alone = time(text("communication(not overlapped)"), kMicroToPico);
    const auto free = time(text("free"), kMicroToPico);
    const auto stage = time(text("stage"), kMicroToPico);
    if (!computing || !alone || !free) return skip_time(text("computing"));
    if (sinks_.trace.table_steps.size() >= kMostTableSteps) return true;
    TraceStep step{fmt::format("Step {}", text("step")), file_, 0, 1, {}};
    for (const auto& part : {computing, alone, free}) add_saturated(step.duration_ps, part->units);
    // The stage is rounded only once and includes waits for other stages.
    if (stage && stage->units > step.duration_ps) step.duration_ps = stage->units;
    const auto overlapped = time(text("overlapped"), kMicroToPico).value_or(Decimal{});
    step.busy = {computing->units, alone->units, 0, overlapped.units};
    sinks_.trace.table_steps.push_back(std::move(step));
    return true;
  }

  TableReader& table_;
  const TimeTable& layout_;
  TimeTableSinks sinks_;
  const std::string file_;
  int scales_[kTimeColumns] = {};
};

}  // namespace

std::int64_t read_time_table(TableReader& table, const TimeTable& layout, TimeTableSinks sinks) {
  return TimeRows(table, layout, sinks).read();
}

}  // namespace opbench
