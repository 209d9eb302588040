#include <algorithm>

#include "profiles/timeline.h"

namespace opbench {
namespace {

// Spans farther than 30 days from the middle of a trace come from damaged times. Their distance
// could overflow 63 bits of picoseconds.
constexpr std::int64_t kFarNs = std::int64_t{1'000'000'000} * 3600 * 24 * 30;

struct TimeInterval {
  std::int64_t begin_ps = 0, end_ps = 0;
};

/// A range of span kinds, both ends included.
struct SpanKinds {
  SpanKind first, last;
};

/// Passes to `use` the part of each span of these kinds that no earlier span of its device covers.
template <class Use>
void for_each_piece(std::vector<DeviceSpan>& spans, std::int64_t base_ns, SpanKinds kinds,
                    std::size_t devices, Use use) {
  std::vector<std::int64_t> covered(devices, INT64_MIN);
  for (DeviceSpan& span : spans) {
    if (span.kind < kinds.first || span.kind > kinds.last) continue;
    if (std::abs(span.start_ns - base_ns) > kFarNs) continue;
    const std::int64_t start = 1000 * (span.start_ns - base_ns);
    const std::int64_t end = start + span.duration_ps;
    std::int64_t& before = covered[span.device];
    if (end <= before) continue;
    use(span, TimeInterval{std::max(start, before), end});
    before = end;
  }
}

void add_extents(const std::vector<DeviceSpan>& spans, std::int64_t base_ns, std::size_t devices,
                 TraceProfile& profile) {
  std::vector<TimeInterval> extents(devices, {INT64_MAX, INT64_MIN});
  for (const DeviceSpan& span : spans) {
    if (std::abs(span.start_ns - base_ns) > kFarNs) continue;
    TimeInterval& extent = extents[span.device];
    const std::int64_t start = 1000 * (span.start_ns - base_ns);
    extent.begin_ps = std::min(extent.begin_ps, start);
    extent.end_ps = std::max(extent.end_ps, start + span.duration_ps);
  }
  for (const TimeInterval& extent : extents) {
    if (extent.begin_ps >= extent.end_ps) continue;
    add_saturated(profile.span_ps, extent.end_ps - extent.begin_ps);
    ++profile.spans;
  }
}

/// The steps of a trace relative to its middle.
class StepWindows {
 public:
  StepWindows(std::span<TraceStep> steps, const std::vector<std::int64_t>& starts_ns,
              std::int64_t base_ns)
      : steps_(steps) {
    for (const std::int64_t start : starts_ns) {
      starts_ps_.push_back(1000 * std::clamp(start - base_ns, -kFarNs, kFarNs));
    }
  }

  /// Passes to `use` each step that the piece overlaps, with the time that lies in it.
  template <class Use>
  void split(const TimeInterval& piece, Use use) const {
    const auto after = std::upper_bound(starts_ps_.begin(), starts_ps_.end(), piece.begin_ps);
    std::size_t i = after == starts_ps_.begin() ? 0 : after - starts_ps_.begin() - 1;
    for (; i < steps_.size() && starts_ps_[i] < piece.end_ps; ++i) {
      const std::int64_t end = std::min(piece.end_ps, starts_ps_[i] + steps_[i].duration_ps);
      const std::int64_t time = end - std::max(piece.begin_ps, starts_ps_[i]);
      if (time > 0) use(steps_[i], time);
    }
  }

 private:
  std::span<TraceStep> steps_;
  std::vector<std::int64_t> starts_ps_;
};

}  // namespace

void attribute_time(std::vector<DeviceSpan>& spans, std::span<TraceStep> steps,
                    const std::vector<std::int64_t>& step_starts_ns, std::size_t devices,
                    TraceProfile& profile) {
  if (spans.empty()) return;
  std::stable_sort(spans.begin(), spans.end(), [](const DeviceSpan& a, const DeviceSpan& b) {
    return a.start_ns < b.start_ns;
  });
  const std::int64_t base = spans[spans.size() / 2].start_ns;
  const StepWindows windows(steps, step_starts_ns, base);
  const auto attribute = [&](SpanKinds kinds, std::int64_t BusyTime::*part) {
    const auto add = [&](BusyTime& busy, std::int64_t time) { add_saturated(busy.*part, time); };
    for_each_piece(spans, base, kinds, devices, [&](DeviceSpan& span, const TimeInterval& piece) {
      add(profile.busy, piece.end_ps - piece.begin_ps);
      windows.split(piece, [&](TraceStep& step, std::int64_t time) {
        add(step.busy, time);
        if (kinds.last != SpanKind::computing) return;
        if (span.task != nullptr) add_saturated(span.task->step_ps, time);
        if (span.host != DeviceSpan::kNone) {
          add_saturated(profile.operators()[span.host].step_ps, time);
        }
      });
    });
  };
  const BusyTime before = profile.busy;
  constexpr SpanKind kComputing = SpanKind::computing, kCommunication = SpanKind::communication;
  attribute({kComputing, kComputing}, &BusyTime::computing_ps);
  attribute({kComputing, kCommunication}, &BusyTime::communication_ps);
  attribute({kComputing, SpanKind::copy}, &BusyTime::copies_ps);
  attribute({kCommunication, kCommunication}, &BusyTime::overlapped_ps);
  const auto alone = [](BusyTime& busy, const BusyTime& earlier) {
    busy.copies_ps -= busy.communication_ps - earlier.communication_ps;
    busy.communication_ps -= busy.computing_ps - earlier.computing_ps;
    busy.overlapped_ps -= busy.communication_ps - earlier.communication_ps;
  };
  alone(profile.busy, before);
  add_extents(spans, base, devices, profile);
  for (TraceStep& step : steps) alone(step.busy, {});
}

}  // namespace opbench
