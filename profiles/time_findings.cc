#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiles/finding_rules.h"
#include "profiles/task.h"

namespace opbench {
namespace {

// Adds the task that waits longest for a communication. Lines do not identify tasks of traces,
// which may have a single line.
void add_waiter(const ProfileView& view, const SlowTask& awaited, Finding& finding) {
  const CommunicationWait* longest = nullptr;
  for (const CommunicationWait& one : view.spots().order().communication_waits()) {
    const bool is_its = one.awaited_line == awaited.at.line && one.file == awaited.at.file &&
                        one.awaited_ps == awaited.duration_ps;
    if (is_its && (longest == nullptr || one.wait_ps > longest->wait_ps)) longest = &one;
  }
  if (longest == nullptr) return;
  finding.evidence.push_back({fmt::format("{} waits {} us for it", type_text(view, longest->op),
                                          us_text(longest->wait_ps)),
                              {longest->file, longest->line}});
}

void find_communication(const ProfileView& view, std::vector<Finding>& found) {
  const DeviceTime& time = view.spots().communication();
  const std::optional<StepTime>& step = view.step();
  if (step ? step->communication_ps == 0 : time.count == 0) return;
  // Without steps, the overlap is not known: the times are added.
  const double both = in_us(time.total_ps) + in_us(view.spots().computing().total_ps);
  const double share = step       ? step->share(step->communication_alone_ps)
                       : both > 0 ? in_us(time.total_ps) / both
                                  : 0;
  if (share < view.rules().finding("communication").share) return;
  const std::string what =
      step ? fmt::format("communication runs for {:.1f} % of the {}, for {:.1f} % alone",
                         100 * step->share(step->communication_ps), step->whole_name(), 100 * share)
           : fmt::format("communication takes {:.1f} % of all times; the overlap is not known",
                         100 * share);
  Finding finding = step ? view.finding("communication", what, 0, share)
                         : view.finding("communication", what, share, std::nullopt);
  for (const SlowTask& task : view.spots().slowest_communication()) {
    finding.evidence.push_back(
        {fmt::format("{} us {}", us_text(task.duration_ps), short_kernel_name(task.name)),
         task.at});
    add_waiter(view, task, finding);
    if (finding.evidence.size() >= kMostEvidence) break;
  }
  finding.evidence.resize(std::min(finding.evidence.size(), kMostEvidence));
  found.push_back(std::move(finding));
}

/// The time without work in front of an operator.
using Pause = std::pair<const HotOperator*, IdleTime>;

// Adds the longest pauses as evidence.
void add_pauses(std::vector<Pause> pauses, std::string_view what, Finding& finding) {
  std::sort(pauses.begin(), pauses.end(), [](const Pause& a, const Pause& b) {
    const std::int64_t first = a.second.total_ps, second = b.second.total_ps;
    return first != second ? first > second : a.first->id < b.first->id;
  });
  for (std::size_t i = 0; i < std::min(pauses.size(), kMostEvidence); ++i) {
    const auto& [one, time] = pauses[i];
    const std::string& name = one->type.empty() ? one->name : one->type;
    finding.evidence.push_back(
        {fmt::format("{} us{} in front of {}", us_text(time.total_ps), what, name), one->first});
  }
}

// Adds the operators of the host during which devices are idle for the longest time.
void add_host_operators(const ProfileView& view, Finding& finding) {
  std::vector<const TraceOperator*> order;
  for (const TraceOperator& one : view.trace().operators()) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->idle_ns > b->idle_ns; });
  for (std::size_t i = 0; i < std::min(order.size(), kMostEvidence); ++i) {
    const TraceOperator& one = *order[i];
    if (one.idle_ns <= 0) break;
    finding.evidence.push_back(
        {fmt::format("{} us idle while the host runs {}, {}", us_text(one.idle_ns * 1000), one.name,
                     times_text(one.calls)),
         one.first});
  }
}

/// A share of the time of the host and the devices, from rule `name`'s share on.
std::optional<Finding> host_finding(const ProfileView& view, std::string_view name,
                                    std::int64_t nanoseconds, std::string what) {
  const double share = view.trace().host.share(nanoseconds);
  if (nanoseconds == 0 || share < view.rules().finding(name).share) return std::nullopt;
  return view.finding(
      name, fmt::format("{} for {:.1f} % of the {}", what, 100 * share, view.step()->whole_name()),
      0, share);
}

// Divides idle time by what the host does meanwhile.
void find_idle_by_host(const ProfileView& view, std::vector<Finding>& found) {
  const HostTime& time = view.trace().host;
  const std::int64_t works = time.host_alone_ns - time.compiling_ns;
  if (auto one = host_finding(view, "host_bound", works,
                              "the device is idle while the host runs operators")) {
    add_host_operators(view, *one);
    found.push_back(std::move(*one));
  }
  if (auto one = host_finding(view, "compile", time.compiling_ns,
                              fmt::format("the device is idle while the host compiles, {},",
                                          times_text(time.compile_calls)))) {
    found.push_back(std::move(*one));
  }
  if (auto one = host_finding(view, "idle_both", time.neither_ns,
                              "neither the device nor the host runs an operator")) {
    const auto part = [&](std::int64_t nanoseconds, std::string_view what) {
      if (nanoseconds <= 0) return;
      one->evidence.push_back(
          {fmt::format("{:.1f} % {}", 100 * time.share(nanoseconds), what), {}});
    };
    part(time.loading_ns, "the host waits for its data loader");
    part(time.waiting_ns, "the host waits for the device");
    part(time.neither_ns - time.loading_ns - time.waiting_ns,
         "no operator: Python, other programs, or what the trace does not show");
    found.push_back(std::move(*one));
  }
}

void find_idle(const ProfileView& view, const StepTime& step, std::vector<Finding>& found) {
  const double share = step.share(step.idle_ps());
  if (share < view.rules().finding("idle").share) return;
  Finding finding = view.finding("idle",
                                 fmt::format("nothing runs on the device for {:.1f} % of the {}",
                                             100 * share, step.whole_name()),
                                 0, share);
  const TaskOrder& order = view.spots().order();
  std::vector<Pause> pauses;
  for (const HotOperator& one : view.operators()) {
    const IdleTime idle = order.is_communication_known() ? order.idle_before(one.id) : IdleTime{};
    if (idle.total_ps > 0) pauses.emplace_back(&one, idle);
  }
  add_pauses(std::move(pauses), " idle", finding);
  found.push_back(std::move(finding));
}

void find_waits(const ProfileView& view, std::vector<Finding>& found) {
  const HotSpots& spots = view.spots();
  const double share = spots.wait_share();
  if (spots.long_waits().count == 0 || share < view.rules().finding("wait").share) return;
  Finding finding = view.finding(
      "wait",
      fmt::format("{} waits of more than {} us are {:.1f} % of durations and waits",
                  spots.long_waits().count, in_us(view.rules().long_wait_ps), 100 * share),
      share, std::nullopt);
  std::vector<Pause> pauses;
  for (const HotOperator& one : view.operators()) {
    if (one.wait_ps > 0) pauses.push_back({&one, {one.wait_ps, one.time.count}});
  }
  add_pauses(std::move(pauses), "", finding);
  found.push_back(std::move(finding));
}

}  // namespace

void find_what_does_not_compute(const ProfileView& view, std::vector<Finding>& found) {
  find_communication(view, found);
  if (!view.step()) return find_waits(view, found);
  if (view.trace().host.whole_ns() > 0) return find_idle_by_host(view, found);
  find_idle(view, *view.step(), found);
}

}  // namespace opbench
