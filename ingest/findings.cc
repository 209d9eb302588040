#include "ingest/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/finding_rules.h"
#include "text/excerpt.h"

namespace opbench {
namespace {

void find_waits(const ProfileView& view, std::vector<Finding>& found) {
  const HotSpots& spots = view.spots();
  const double share = spots.wait_share();
  if (spots.long_waits().count == 0 || share < view.rules().finding("wait").share) return;
  std::vector<const HotOperator*> waiting;
  for (const HotOperator& one : view.operators()) {
    if (one.wait_ps > 0) waiting.push_back(&one);
  }
  std::sort(waiting.begin(), waiting.end(), [](const auto* a, const auto* b) {
    return a->wait_ps != b->wait_ps ? a->wait_ps > b->wait_ps : a->id < b->id;
  });
  Finding finding = view.finding(
      "wait",
      fmt::format("{} waits of more than {} us are {:.1f} % of durations and waits",
                  spots.long_waits().count, in_us(view.rules().long_wait_ps), 100 * share),
      {});
  for (std::size_t i = 0; i < std::min(waiting.size(), kMostEvidence); ++i) {
    finding.evidence.push_back({fmt::format("{} us in front of {}", us_text(waiting[i]->wait_ps),
                                            operator_text(*waiting[i])),
                                waiting[i]->first});
  }
  found.push_back(std::move(finding));
}

void find_recompiles(const ProfileView& view, const HostLogs& logs, std::vector<Finding>& found) {
  const std::int64_t steps = view.rules().warm_steps;
  const auto late = logs.compiled_after(steps);
  if (late.empty()) return;
  Finding finding = view.finding(
      "recompile", fmt::format("{} operators still compile after step {}", late.size(), steps), {});
  for (std::size_t i = 0; i < std::min(late.size(), kMostEvidence); ++i) {
    finding.evidence.push_back({fmt::format("{} in {} steps", late[i].first, late[i].second), {}});
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

ProfileView::ProfileView(const HotSpots& hot_spots)
    : spots_(hot_spots), operators_(hot_spots.operators()), types_(hot_spots.types()) {
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

Finding ProfileView::finding(std::string_view name, std::string what,
                             const std::vector<const HotOperator*>& operators) const {
  const FindingRule& rule = rules().finding(name);
  Finding finding{std::string(name), std::move(what), false, 0, {}, {}, rule.advice, rule.tries};
  std::vector<std::uint32_t> ids;
  for (const HotOperator* one : operators) {
    finding.share += share(*one);
    ids.push_back(one->id);
    if (finding.evidence.size() < kMostEvidence) {
      finding.evidence.push_back(
          {fmt::format("{:.1f} % {}", 100 * share(*one), operator_text(*one)), one->first});
    }
  }
  if (!ids.empty()) finding.step_share = step_share(spots_, ids);
  finding.is_warning = rule.warning > 0 && finding.share >= rule.warning;
  return finding;
}

std::string operator_text(const HotOperator& one) {
  constexpr std::size_t kLongest = 100;
  const std::string type = one.type.empty() ? one.name : one.type;
  if (!one.has_tensors) return type;
  return excerpt(fmt::format("{} {} {} -> {} {}", type, one.input_shapes, one.input_formats,
                             one.output_shapes, one.output_formats),
                 kLongest);
}

std::optional<double> step_share(const HotSpots& spots, const std::vector<std::uint32_t>& ids) {
  const TaskOrder& order = spots.order();
  if (!order.is_known() || order.span_ps() == 0) return std::nullopt;
  double busy = 0;
  for (const std::uint32_t id : ids) busy += static_cast<double>(order.busy_ps(id));
  return busy / static_cast<double>(order.span_ps());
}

std::vector<Finding> find_remarks(const HotSpots& spots, const HostLogs& logs,
                                  const CoreCounts& cores) {
  const ProfileView view(spots);
  std::vector<Finding> found;
  find_conversions(view, found);
  find_aicpu(view, found);
  find_misaligned(view, found);
  find_idle_cores(view, cores, found);
  find_waits(view, found);
  find_bounds(view, found);
  find_fusible(view, found);
  find_recompiles(view, logs, found);
  find_dynamic(view, found);
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    return a.is_warning != b.is_warning ? a.is_warning : a.share > b.share;
  });
  return found;
}

}  // namespace opbench
