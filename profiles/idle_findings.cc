#include <fmt/format.h>

#include <algorithm>

#include "profiles/finding_rules.h"
#include "profiles/kernel_name.h"

namespace opbench {
namespace {

void find_communication(const ProfileView& view, std::vector<Finding>& found) {
  const DeviceTime& time = view.spots().communication();
  const std::optional<StepTime>& step = view.step();
  if (step ? step->communication_ps == 0 : time.count == 0) return;
  // Without a step, as if nothing overlapped.
  const double both = in_us(time.total_ps) + in_us(view.spots().computing().total_ps);
  const double share = step       ? step->share(step->communication_alone_ps)
                       : both > 0 ? in_us(time.total_ps) / both
                                  : 0;
  if (share < view.rules().finding("communication").share) return;
  const std::string what =
      step ? fmt::format("communication runs for {:.1f} % of the {}, for {:.1f} % alone",
                         100 * step->share(step->communication_ps), step->whole_name(), 100 * share)
           : fmt::format("communication takes {:.1f} % of all times; what overlaps is not known",
                         100 * share);
  Finding finding = step ? view.finding("communication", what, 0, share)
                         : view.finding("communication", what, share, std::nullopt);
  for (const SlowTask& task : view.spots().slowest_communication()) {
    if (finding.evidence.size() == kMostEvidence) break;
    finding.evidence.push_back(
        {fmt::format("{} us {}", us_text(task.duration_ps), short_kernel_name(task.name)),
         task.at});
  }
  found.push_back(std::move(finding));
}

/// How long something lasted in front of an operator.
using Pause = std::pair<const HotOperator*, IdleTime>;

// The longest first.
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
  if (view.step()) return find_idle(view, *view.step(), found);
  find_waits(view, found);
}

}  // namespace opbench
