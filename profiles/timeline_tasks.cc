// The tasks of devices in a timeline, and the rows of tables that they belong to.
#include <algorithm>

#include "profiles/task.h"
#include "profiles/timeline.h"

namespace opbench {

// The row of the table that began at this time. Tables have the correct cores, so they are
// preferred.
HotOperator* Timeline::row_of(const TraceEvent& event, const Moment& moment) {
  const auto row =
      std::lower_bound(rows_->begin(), rows_->end(), moment.start_ns,
                       [](const auto& one, std::int64_t start) { return one.first < start; });
  if (row != rows_->end() && row->first == moment.start_ns) return row->second;
  // The start times of communication in table and trace differ by a nanosecond.
  const bool communicates = spots_.rules().is_communication_name(event.name);
  profile_.kernels_without_row += communicates ? 0 : 1;
  return nullptr;
}

HotOperator* Timeline::task_of(const TraceReader& reader, const Moment& moment) {
  const TraceEvent& event = reader.event();
  if (rows_ != nullptr) return row_of(event, moment);
  DeviceTask task;
  task.name = event.name;
  task.has_kernel_name = is_kernel(event);
  task.type = task.has_kernel_name ? short_kernel_name(event.name) : type_of_task_name(event.name);
  task.core = event.task_type;
  task.stream = event.stream;
  task.start_ns = moment.start_ns;
  task.duration_ps = moment.duration_ps;
  task.duration_digits = moment.digits;
  task.file = file_;
  task.line = reader.line();
  return spots_.add(task);
}

void Timeline::add_device_span(const TraceReader& reader, const Moment& moment, SpanKind kind) {
  const TraceEvent& event = reader.event();
  DeviceSpan span;
  const bool is_kept = spans_.size() < kMostKept;
  const bool waits = is_kept && rows_ == nullptr && kind != SpanKind::copy && is_kernel(event);
  if (waits) {
    kernels_.push_back({spans_.size(), number_of(event.name), number_of(event.stream),
                        reader.line(), moment.digits, moment.duration_ps});
  } else if (kind != SpanKind::copy) {
    span.task = task_of(reader, moment);
  }
  profile_.kernels += kind == SpanKind::copy ? 0 : 1;
  if (!is_kept) {
    ++profile_.lost;
    return;
  }
  span.start_ns = moment.start_ns;
  span.duration_ps = moment.duration_ps;
  span.correlation = id_or_none(event.correlation);
  span.external = id_or_none(event.external_id);
  const bool is_npu = !event.task_type.empty() || event.category.empty();
  span.device = number_of(devices_, is_npu ? "NPU" : "GPU", event.process);
  span.kind = kind;
  spans_.push_back(span);
}

// Must be called after the kernels are linked to the operators that launched them.
void Timeline::add_gpu_tasks() {
  std::vector<std::string_view> texts(texts_.size());
  for (const auto& [text, number] : texts_) texts[number] = text;
  const std::vector<SpanPiece> rest = cut_operators(texts);
  for (const GpuKernel& kernel : kernels_) {
    DeviceSpan& span = spans_[kernel.span];
    DeviceTask task;
    task.name = texts[kernel.name];
    task.has_kernel_name = true;
    task.type = span.host == DeviceSpan::kNone ? short_kernel_name(task.name)
                                               : profile_.operators()[span.host].name;
    task.stream = texts[kernel.stream];
    task.start_ns = span.start_ns;
    task.duration_ps = kernel.own_ps;
    task.duration_digits = kernel.duration_digits;
    task.file = file_;
    task.line = kernel.line;
    span.task = spots_.add(task);
    const bool is_first = span.task != nullptr && !span.task->host;
    if (is_first && span.host != DeviceSpan::kNone) span.task->host = span.host;
  }
  for (const SpanPiece& piece : rest) {
    DeviceSpan span = spans_[piece.span];
    span.start_ns = piece.start_ns;
    span.duration_ps = piece.duration_ps;
    spans_.push_back(span);
  }
}

}  // namespace opbench
