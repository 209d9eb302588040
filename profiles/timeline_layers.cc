// The layers of a timeline: calls of CANN on the host, and the way of a task to the device.
#include <algorithm>

#include "profiles/task.h"
#include "profiles/timeline.h"

namespace opbench {

std::string_view Timeline::process_name(const TraceEvent& event) const {
  const auto name = process_names_.find(std::string(event.process));
  return name == process_names_.end() ? std::string_view() : name->second;
}

void Timeline::add_layer_call(const TraceEvent& event, const Moment& moment, Layer layer) {
  if (layer_calls_.size() >= kMostKept) return;
  profile_.has_layers |= layer != Layer::framework;
  LayerCall call{moment.start_ns, moment.end_ns, number_of(thread_ids_, event.thread, {})};
  call.layer = layer;
  if (layer == Layer::framework) {
    call.task = event.correlation.empty() ? -1 : parse_id(event.correlation);
    call.is_given = event.category == "enqueue";
  }
  layer_calls_.push_back(call);
}

// Must be called after the spans are linked to operators.
void Timeline::add_layer_times() {
  if (!profile_.has_layers) return;
  for (const HostCall& call : calls_) {
    layer_calls_.push_back({call.start_ns, call.end_ns, call.thread_id, call.op});
  }
  attribute_layers(layer_calls_, profile_);
  std::unordered_map<std::int64_t, std::int64_t> begins, launched;  // by id; by start on the device
  for (const HostLaunch& launch : host_to_device_) begins.emplace(launch.id, launch.time_ns);
  for (const auto& [start_ns, id] : on_device_) {
    const auto begin = begins.find(id);
    if (begin != begins.end()) launched.emplace(start_ns, begin->second);
  }
  for (const DeviceSpan& span : spans_) {
    if (span.kind == SpanKind::copy) continue;
    static_assert(DeviceSpan::kNone == LayerCall::kNoOperator);
    add_layer_time(Layer::device, span.host, span.duration_ps / 1000, profile_);
    const auto begin = launched.find(span.start_ns);
    if (begin == launched.end()) continue;
    add_layer_time(Layer::scheduler, span.host,
                   std::max<std::int64_t>(0, span.start_ns - begin->second), profile_);
  }
}

}  // namespace opbench
