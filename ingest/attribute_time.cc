#include <algorithm>

#include "ingest/timeline.h"

namespace opbench {
namespace {

// What is farther from the middle of a trace is no part of it, and would not fit in picoseconds.
constexpr std::int64_t kFarNs = std::int64_t{1'000'000'000} * 3600 * 24 * 30;

struct Piece {
  std::int64_t begin_ps = 0, end_ps = 0;
};

/// Gives the part of each span of these kinds in which none before it was running on its device.
template <class Use>
void for_each_piece(std::vector<DeviceSpan>& spans, std::int64_t base_ns, SpanKind last,
                    std::size_t devices, Use use) {
  std::vector<std::int64_t> covered(devices, INT64_MIN);
  for (DeviceSpan& span : spans) {
    if (span.kind > last || std::abs(span.start_ns - base_ns) > kFarNs) continue;
    const std::int64_t start = 1000 * (span.start_ns - base_ns);
    const std::int64_t end = start + span.duration_ps;
    std::int64_t& before = covered[span.device];
    if (end <= before) continue;
    use(span, Piece{std::max(start, before), end});
    before = end;
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

  /// Gives each step that the piece touches with the time in it.
  template <class Use>
  void split(const Piece& piece, Use use) const {
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
  // What is busy with these kinds and not with those before.
  const auto attribute = [&](SpanKind last, std::int64_t BusyTime::*part) {
    const auto add = [&](BusyTime& busy, std::int64_t time) { add_saturated(busy.*part, time); };
    for_each_piece(spans, base, last, devices, [&](DeviceSpan& span, const Piece& piece) {
      add(profile.busy, piece.end_ps - piece.begin_ps);
      windows.split(piece, [&](TraceStep& step, std::int64_t time) {
        add(step.busy, time);
        if (last != SpanKind::computing) return;
        if (span.task != nullptr) add_saturated(span.task->step_ps, time);
        if (span.host != DeviceSpan::kNone) {
          add_saturated(profile.operators()[span.host].step_ps, time);
        }
      });
    });
  };
  const BusyTime before = profile.busy;
  attribute(SpanKind::computing, &BusyTime::computing_ps);
  attribute(SpanKind::communication, &BusyTime::communication_ps);
  attribute(SpanKind::copy, &BusyTime::copies_ps);
  const auto alone = [](BusyTime& busy, const BusyTime& earlier) {
    busy.copies_ps -= busy.communication_ps - earlier.communication_ps;
    busy.communication_ps -= busy.computing_ps - earlier.computing_ps;
  };
  alone(profile.busy, before);
  for (TraceStep& step : steps) alone(step.busy, {});
}

}  // namespace opbench
