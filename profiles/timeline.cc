#include "profiles/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "profiles/task.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

std::int64_t id_or_none(std::string_view text) { return text.empty() ? -1 : parse_id(text); }

bool is_step(const TraceEvent& event) {
  if (event.category == "Iteration Time") return true;
  return event.name.starts_with("ProfilerStep#") && event.category != "gpu_user_annotation" &&
         event.task_type.empty();
}

bool is_operator(const TraceEvent& event) {
  return event.category == "cpu_op" || event.category == "Operator" ||
         event.process == "CPU functions";
}

// Categories cuda_runtime, cuda_driver, hip_runtime, and Runtime (2021).
bool is_runtime(const TraceEvent& event) {
  return event.category.ends_with("_runtime") || event.category.ends_with("_driver") ||
         event.category == "Runtime";
}

bool is_kernel(const TraceEvent& event) {
  return event.category == "kernel" || event.category == "Kernel" ||
         (event.process.ends_with(" functions") && !is_operator(event));
}

bool is_copy(const TraceEvent& event) {
  constexpr std::string_view kCategories[] = {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"};
  return std::find(std::begin(kCategories), std::end(kCategories), event.category) !=
         std::end(kCategories);
}

// True for arrows from a launch in the framework to the launched task.
bool is_launch_arrow(const TraceEvent& event) {
  return event.category == "async_npu" || event.category.starts_with("cpu_to_");
}

}  // namespace

std::int64_t parse_id(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (status == std::errc{} && end == text.data() + text.size()) return id;
  return static_cast<std::int64_t>(std::hash<std::string_view>()(text) >> 1);
}

bool Timeline::read_moment(TraceReader& reader, Moment& moment) const {
  const TraceEvent& event = reader.event();
  const auto start = parse_decimal(event.start_us, kMicroToNano);
  const auto nanoseconds = parse_decimal(event.duration_us, kMicroToNano);
  const auto duration = parse_decimal(event.duration_us, kMicroToPico);
  constexpr std::int64_t kMost = INT64_MAX / 4;
  const bool is_time = start && duration && nanoseconds && duration->units >= 0 &&
                       std::max(start->units, -start->units) < kMost && duration->units < kMost;
  if (!is_time) {
    constexpr std::size_t kShown = 40;
    const std::string_view odd = start ? event.duration_us : event.start_us;
    reader.skip(fmt::format("'{}' is not a time", printable(excerpt(std::string(odd), kShown))));
    return false;
  }
  moment = {start->units, start->units + nanoseconds->units, duration->units, duration->digits};
  return true;
}

std::uint32_t Timeline::number_of(std::unordered_map<std::string, std::uint32_t>& all,
                                  std::string_view first, std::string_view second) {
  key_.assign(first).append(1, kKeySeparator).append(second);
  return all.try_emplace(key_, static_cast<std::uint32_t>(all.size())).first->second;
}

std::uint32_t Timeline::number_of(std::string_view text) {
  key_.assign(text);
  return texts_.try_emplace(key_, static_cast<std::uint32_t>(texts_.size())).first->second;
}

bool Timeline::add_event(TraceReader& reader) {
  const TraceEvent& event = reader.event();
  ++profile_.events;
  count_name(profile_.phases, std::string_view(&event.phase, 1));
  if (event.phase == 'X') {
    count_name(profile_.categories, event.category);
    return add_span(reader);
  }
  if (event.phase == 's' || event.phase == 'f') {
    add_arrow(event);
  } else if (event.phase == 'M') {
    constexpr std::size_t kMostProcesses = 10'000;
    const bool is_label = event.name == "process_labels";
    if (!is_label && event.name != "process_name") return true;
    auto& texts = is_label ? labels_ : process_names_;
    if (texts.size() >= kMostProcesses) return true;
    texts[std::string(event.process)] = is_label ? event.labels : event.process_name;
  }
  return true;
}

void Timeline::add_arrow(const TraceEvent& event) {
  const bool is_of_runtime = event.category == "HostToDevice";
  const bool is_launch = is_launch_arrow(event) || is_of_runtime;
  if (!is_launch && event.category != "ac2g") return;
  const auto start = parse_decimal(event.start_us, kMicroToNano);
  std::vector<HostLaunch>& begins = is_of_runtime ? host_to_device_
                                    : is_launch   ? arrows_
                                                  : launches_;
  auto& ends = is_of_runtime ? on_device_ : arrow_ends_;
  if (!start || begins.size() >= kMostKept || ends.size() >= kMostKept) return;
  if (event.phase == 's') {
    begins.push_back(
        {parse_id(event.id), start->units, number_of(threads_, event.process, event.thread)});
  } else if (is_launch) {
    ends.emplace_back(start->units, parse_id(event.id));
  }
}

// The kind of a device's activity; empty if the event is not an activity.
std::optional<SpanKind> Timeline::kind_of(const TraceEvent& event) const {
  const HotSpotRules& rules = spots_.rules();
  const bool communicates = rules.is_communication_name(event.name);
  const bool has_class = !event.category.empty() || !event.task_type.empty();
  if (is_kernel(event) || rules.computes(event.task_type) || (communicates && !has_class)) {
    return communicates ? SpanKind::communication : SpanKind::computing;
  }
  const bool is_copying = is_copy(event) || rules.copies(event.task_type);
  return is_copying ? std::optional(SpanKind::copy) : std::nullopt;
}

// Remembers what the host does, from its operators, calls of the runtime, and events without a
// category, which are calls of CANN.
void Timeline::add_host_span(const TraceEvent& event) {
  const bool is_plain = event.category.empty() && event.task_type.empty();
  const bool works = is_operator(event) || event.category == "dequeue";
  if (!works && !is_runtime(event) && !is_plain) return;
  const std::optional<HostState> named = spots_.rules().host_state(event.name);
  if ((!named && !works) || host_spans_.size() >= kMostKept) return;
  const auto start = parse_decimal(event.start_us, kMicroToNano);
  const auto duration = parse_decimal(event.duration_us, kMicroToNano);
  std::int64_t end = 0;
  if (!start || !duration || __builtin_add_overflow(start->units, duration->units, &end)) return;
  // Threads of the framework and of CANN have one number and different processes.
  host_spans_.push_back(
      {start->units, end, number_of(threads_, "", event.thread), named.value_or(HostState::works)});
}

bool Timeline::add_span(TraceReader& reader) {
  const TraceEvent& event = reader.event();
  Moment moment;
  if (!is_step(event)) add_host_span(event);
  if (is_step(event)) {
    if (!read_moment(reader, moment)) return false;
    windows_.push_back({moment.start_ns, moment.end_ns, std::string(event.name)});
  } else if (is_operator(event)) {
    if (!read_moment(reader, moment)) return false;
    add_call(reader, moment);
  } else if (is_runtime(event)) {
    const auto start = parse_decimal(event.start_us, kMicroToNano);
    if (!start || event.correlation.empty() || launches_.size() >= kMostKept) return true;
    launches_.push_back({parse_id(event.correlation), start->units,
                         number_of(threads_, event.process, event.thread)});
  } else if (const auto layer = layer_of(event, process_name(event))) {
    if (!read_moment(reader, moment)) return false;
    add_layer_call(event, moment, *layer);
  } else {
    const std::optional<SpanKind> kind = kind_of(event);
    if (!kind && event.task_type.empty()) return true;
    if (!read_moment(reader, moment)) return false;
    if (kind) add_device_span(reader, moment, *kind);
    if (!kind || kind == SpanKind::copy) {
      DeviceTask task;
      task.duration_ps = moment.duration_ps;
      profile_.count_other(event.task_type.empty() ? event.category : event.task_type, task);
    }
  }
  return true;
}

void Timeline::add_call(const TraceReader& reader, const Moment& moment) {
  const TraceEvent& event = reader.event();
  const std::uint32_t op = profile_.operator_of(event, file_, reader.line());
  ++profile_.host_operators;
  profile_.host_operators_with_shapes += event.input_dims.data() != nullptr ? 1 : 0;
  ++profile_.operators()[op].calls;
  if (calls_.size() >= kMostKept) {
    ++profile_.lost;
    return;
  }
  calls_.push_back({moment.start_ns, moment.end_ns, op,
                    number_of(threads_, event.process, event.thread),
                    static_cast<std::uint32_t>(id_or_none(event.external_id)),
                    number_of(thread_ids_, event.thread, {})});
}

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

// Sorts steps by time. A step that begins before the end of the previous step is shortened.
void Timeline::cut_windows() {
  std::stable_sort(windows_.begin(), windows_.end(),
                   [](const Window& a, const Window& b) { return a.start_ns < b.start_ns; });
  std::int64_t end = INT64_MIN;
  for (Window& window : windows_) {
    window.start_ns = std::max(window.start_ns, end);
    end = std::max(end, window.end_ns);
  }
  std::erase_if(windows_, [](const Window& window) { return window.start_ns >= window.end_ns; });
}

// Must be called last: spans have devices, calls are in order, and steps do not overlap.
void Timeline::add_idle_time() {
  if (host_spans_.empty() || calls_.empty()) return;
  std::vector<Intervals> busy;
  for (const DeviceSpan& span : spans_) {
    if (busy.size() <= span.device) busy.resize(span.device + 1);
    busy[span.device].emplace_back(span.start_ns, span.start_ns + span.duration_ps / 1000);
  }
  Intervals steps;
  for (const Window& window : windows_) steps.emplace_back(window.start_ns, window.end_ns);
  const IdleClock idle(add_host_time(host_spans_, busy, steps, profile_.host));
  std::vector<const HostCall*> running;
  for (const HostCall& call : calls_) {
    while (!running.empty() &&
           (running.back()->thread != call.thread || running.back()->end_ns <= call.start_ns)) {
      running.pop_back();
    }
    const std::int64_t own = idle.between_ns(call.start_ns, call.end_ns);
    add_saturated(profile_.operators()[call.op].idle_ns, own);
    if (!running.empty()) add_saturated(profile_.operators()[running.back()->op].idle_ns, -own);
    running.push_back(&call);
  }
}

void Timeline::finish() {
  link_spans(spans_, calls_, {launches_, arrows_, arrow_ends_}, profile_);
  add_gpu_tasks();
  add_layer_times();
  // Processes of one NPU have the same label, or no label. Each GPU is a process.
  std::unordered_map<std::string, std::uint32_t> labels;
  std::vector<std::uint32_t> device_of(devices_.size());
  for (const auto& [key, number] : devices_) {
    const std::string process = key.substr(key.find(kKeySeparator) + 1);
    const auto label = labels_.find(process);
    const std::string name = label != labels_.end()   ? label->second
                             : key.starts_with("NPU") ? std::string()
                                                      : process;
    device_of[number] =
        labels.try_emplace(name, static_cast<std::uint32_t>(labels.size())).first->second;
  }
  for (DeviceSpan& span : spans_) span.device = device_of[span.device];
  cut_windows();
  const std::size_t first = profile_.steps.size();
  std::vector<std::int64_t> starts;
  for (const Window& window : windows_) {
    starts.push_back(window.start_ns);
    profile_.steps.push_back({window.name,
                              file_,
                              1000 * (window.end_ns - window.start_ns),
                              std::max<std::int64_t>(1, std::ssize(labels)),
                              {}});
  }
  attribute_time(spans_, std::span(profile_.steps).subspan(first), starts,
                 std::max<std::size_t>(1, labels.size()), profile_);
  add_idle_time();
}

}  // namespace opbench
