#include "profiles/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiles/finding_rules.h"
#include "profiles/task.h"
#include "text/fitted.h"

namespace opbench {

namespace {

void add_busy(const BusyTime& busy, StepTime& time) {
  add_saturated(time.computing_ps, busy.computing_ps);
  add_saturated(time.communication_alone_ps, busy.communication_ps);
  add_saturated(time.communication_ps, busy.communication_ps);
  add_saturated(time.communication_ps, busy.overlapped_ps);
  add_saturated(time.copies_alone_ps, busy.copies_ps);
}

// A marked step is longer than its tasks: it includes the waits of the host.
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

// The mean time of compiling in the steps after the first `steps`.
double compile_milliseconds(const HostLogs& logs, std::int64_t steps) {
  const auto& blocks = logs.blocks();
  double sum = 0;
  for (std::int64_t i = steps + 1; i < std::ssize(blocks); ++i) {
    sum += blocks[static_cast<std::size_t>(i)].milliseconds;
  }
  return sum / static_cast<double>(std::max<std::int64_t>(1, std::ssize(blocks) - steps - 1));
}

void find_recompiles(const ProfileView& view, const HostLogs& logs, std::vector<Finding>& found) {
  const std::int64_t steps = view.rules().warm_steps;
  const auto late = logs.compiled_after(steps);
  if (late.empty()) return;
  Finding finding = view.finding(
      "recompile", fmt::format("{} operators still compile after step {}", late.size(), steps), {});
  for (std::size_t i = 0; i < std::min(late.size(), kMostEvidence); ++i) {
    finding.evidence.push_back(
        {fmt::format("{} in {}", late[i].first, counted(late[i].second, "step")), {}});
  }
  const double milliseconds = compile_milliseconds(logs, steps);
  if (view.step() && milliseconds > 0) {
    const double step_ms = in_us(view.step()->mean_ps) / 1e3;
    finding.what += fmt::format(", for {:.1f} ms of a step", milliseconds);
    // A step of the log can be longer than a step of the profile.
    finding.step_share = finding.saves = milliseconds / std::max(step_ms, milliseconds);
  }
  found.push_back(std::move(finding));
}

void find_dynamic(const ProfileView& view, std::vector<Finding>& found) {
  const auto& states = view.spots().states();
  if (states.size() != 1 || !states.contains("dynamic")) return;
  found.push_back(view.finding(
      "dynamic", fmt::format("all {} tasks have dynamic shapes", states.begin()->second), {}));
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
  return fmt::format("Device time {} in {}; steps are not known, so shares are of the device time",
                     short_time(computing.total_ps), counted(computing.count, "task"));
}

std::string host_line(const IngestResult& result) {
  const HostTime& time = result.trace.host;
  const std::optional<StepTime> step = step_time(result);
  if (!step || time.whole_ns() == 0) return {};
  const auto percent = [&](std::int64_t part) { return 100 * time.share(part); };
  return fmt::format(
      "Host and device work: both {:.1f} % of the {}, only the host {:.1f} %, only the device "
      "{:.1f} %, neither {:.1f} %",
      percent(time.both_ns), step->whole_name(), percent(time.host_alone_ns),
      percent(time.device_alone_ns), percent(time.neither_ns));
}

ProfileView::ProfileView(const IngestResult& result)
    : result_(result),
      step_(step_time(result)),
      operators_(result.hot_spots.operators()),
      types_(result.hot_spots.types()) {
  by_id_.resize(operators_.size());
  types_by_id_.resize(types_.size());
  for (const HotOperator& one : operators_) by_id_.at(one.id) = &one;
  for (const HotType& one : types_) types_by_id_.at(one.id) = &one;
}

const HotOperator* ProfileView::by_id(std::uint32_t id) const {
  return id < by_id_.size() ? by_id_[id] : nullptr;
}

const HotType* ProfileView::type_by_id(std::uint32_t id) const {
  return id < types_by_id_.size() ? types_by_id_[id] : nullptr;
}

Finding ProfileView::finding(std::string_view name, std::string what, double share,
                             std::optional<double> step_share) const {
  const FindingRule& rule = rules().finding(name);
  const double saves = step_share.value_or(share);
  return {std::string(name), std::move(what), false,     saves, share, step_share, {},
          rule.estimate,     rule.advice,     rule.tries};
}

Finding ProfileView::finding(std::string_view name, std::string what,
                             const std::vector<const HotOperator*>& operators,
                             const std::vector<double>& parts) const {
  std::vector<Evidence> evidence;
  double sum = 0, of_step = 0, saves = 0;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const HotOperator* const one = operators[i];
    const double part = step_ ? step_share(result_, *step_, *one) : share(*one);
    sum += share(*one);
    of_step += part;
    saves += part * (i < parts.size() ? parts[i] : 1);
    if (evidence.size() < kMostEvidence) {
      evidence.push_back({fmt::format("{:.1f} % {}", 100 * part, operator_text(*one)), one->first});
    }
  }
  Finding one = finding(name, std::move(what), sum,
                        step_ && !operators.empty() ? std::optional(of_step) : std::nullopt);
  one.evidence = std::move(evidence);
  one.saves = saves;
  return one;
}

std::string operator_text(const HotOperator& one) {
  constexpr std::size_t kLongest = 100;
  if (one.has_kernel_name && one.name != one.type) {
    return excerpt(fmt::format("{} {}", one.type, short_kernel_name(one.name)), kLongest);
  }
  const std::string type = one.type.empty() ? one.name : one.type;
  if (!one.has_tensors) return type;
  return excerpt(fmt::format("{} {} {} -> {} {}", type, one.input_shapes, one.input_formats,
                             one.output_shapes, one.output_formats),
                 kLongest);
}

std::string times_text(std::int64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

std::vector<Finding> find_remarks(const IngestResult& result, const CoreCounts& cores) {
  const ProfileView view(result);
  std::vector<Finding> found;
  find_what_does_not_compute(view, found);
  find_conversions(view, found);
  find_aicpu(view, found);
  find_misaligned(view, found);
  find_idle_cores(view, cores, found);
  find_bounds(view, found);
  find_metric_bounds(view, cores, found);
  find_fusible(view, found);
  find_recompiles(view, result.logs, found);
  find_log_problems(view, result.logs, found);
  find_dynamic(view, found);
  for (Finding& one : found) one.is_warning |= one.saves >= view.rules().warning;
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.saves, a.shown_share()) > std::pair(b.saves, b.shown_share());
  });
  return found;
}

}  // namespace opbench
