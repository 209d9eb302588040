// The activity of the host in a timeline, and the operators that run while devices are idle.
#include "profiles/task.h"
#include "profiles/timeline.h"

namespace opbench {

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

}  // namespace opbench
