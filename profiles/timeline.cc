#include "profiles/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "profiles/task.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

bool is_step(const TraceEvent& event) {
  if (event.category == "Iteration Time") return true;
  return event.name.starts_with("ProfilerStep#") && event.category != "gpu_user_annotation" &&
         event.task_type.empty();
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

std::int64_t parse_id(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (status == std::errc{} && end == text.data() + text.size()) return id;
  return static_cast<std::int64_t>(std::hash<std::string_view>()(text) >> 1);
}

std::int64_t id_or_none(std::string_view text) { return text.empty() ? -1 : parse_id(text); }

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
