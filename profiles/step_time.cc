#include "profiles/step_time.h"

#include <fmt/format.h>

#include <algorithm>

namespace opbench {
namespace {

void add_busy(const BusyTime& busy, StepTime& time) {
  add_saturated(time.computing_ps, busy.computing_ps);
  add_saturated(time.communication_alone_ps, busy.communication_ps);
  add_saturated(time.communication_ps, busy.communication_ps);
  add_saturated(time.communication_ps, busy.overlapped_ps);
  add_saturated(time.copies_alone_ps, busy.copies_ps);
}

// Marks of steps are wider than the tasks in them: they hold what the host waits for.
std::optional<StepTime> traced_time(const TraceProfile& trace) {
  StepTime time;
  time.has_steps = !trace.steps.empty();
  std::int64_t sum = 0;
  for (const TraceStep& step : trace.steps) {
    add_saturated(sum, step.duration_ps);
    add_busy(step.busy, time);
  }
  if (!time.has_steps) add_busy(trace.busy, time);
  time.count = time.has_steps ? std::ssize(trace.steps) : trace.spans;
  time.whole_ps = time.has_steps ? trace.step_ps() : trace.span_ps;
  const bool is_busy =
      time.computing_ps > 0 || time.communication_ps > 0 || time.copies_alone_ps > 0;
  if (time.whole_ps == 0 || !is_busy) return std::nullopt;
  time.mean_ps = (time.has_steps ? sum : time.whole_ps) / time.count;
  return time;
}

std::optional<StepTime> ordered_time(const TaskOrder& order) {
  if (!order.is_communication_known() || order.span_ps() == 0) return std::nullopt;
  return StepTime{
      order.steps(),   order.has_steps(),        order.span_ps() / order.steps(), order.span_ps(),
      order.busy_ps(), order.communication_ps(), order.communication_alone_ps(),  0};
}

std::string short_time(std::int64_t picoseconds) {
  const double us = in_us(picoseconds);
  if (us >= 1e6) return fmt::format("{:.4g} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.4g} ms", us / 1e3);
  return fmt::format("{:.4g} us", us);
}

std::string parts_text(const StepTime& time) {
  const auto percent = [&](std::int64_t part) { return 100 * time.share(part); };
  std::string text = fmt::format("computing {:.1f} %", percent(time.computing_ps));
  if (time.communication_ps > 0) {
    text += fmt::format(", communication {:.1f} %", percent(time.communication_ps));
    if (time.communication_alone_ps < time.communication_ps) {
      text +=
          fmt::format(" (partly overlapped: {:.1f} % alone)", percent(time.communication_alone_ps));
    }
  }
  constexpr double kShown = 0.0005;
  if (time.share(time.copies_alone_ps) >= kShown) {
    text += fmt::format(", copies {:.1f} %", percent(time.copies_alone_ps));
  }
  return text + fmt::format(", idle {:.1f} %", percent(time.idle_ps()));
}

}  // namespace

std::int64_t StepTime::idle_ps() const {
  std::int64_t rest = whole_ps;
  for (const std::int64_t part : {computing_ps, communication_alone_ps, copies_alone_ps}) {
    add_saturated(rest, -part);
  }
  return std::max<std::int64_t>(0, rest);
}

double StepTime::share(std::int64_t picoseconds) const {
  return whole_ps == 0 ? 0 : static_cast<double>(picoseconds) / static_cast<double>(whole_ps);
}

std::optional<StepTime> step_time(const IngestResult& result) {
  const std::optional<StepTime> traced = traced_time(result.trace);
  return traced ? traced : ordered_time(result.hot_spots.order());
}

double step_share(const IngestResult& result, const StepTime& step, const HotOperator& one) {
  if (!result.trace.steps.empty() && !result.trace.are_steps_of_table) {
    return step.share(one.step_ps);
  }
  const TaskOrder& order = result.hot_spots.order();
  return step.share(order.is_known() ? order.busy_ps(one.id) : one.time.total_ps);
}

std::string headline(const IngestResult& result) {
  const DeviceTime& computing = result.hot_spots.computing();
  if (const std::optional<StepTime> time = step_time(result)) {
    const std::string_view what = time->has_steps    ? "One step takes"
                                  : time->count == 1 ? "The profile lasts"
                                                     : "One file lasts";
    std::string text = fmt::format("{} {}", what, short_time(time->mean_ps));
    if (time->count > 1) text += fmt::format(", the mean of {}", time->count);
    return fmt::format("{}: {}", text, parts_text(*time));
  }
  if (computing.count == 0) return {};
  return fmt::format(
      "Device time {} in {} {}; steps are not known, so shares are of the device time",
      short_time(computing.total_ps), computing.count, computing.count == 1 ? "task" : "tasks");
}

}  // namespace opbench
