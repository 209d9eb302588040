#include "profiles/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/finding_rules.h"
#include "profiles/kernel_name.h"
#include "text/excerpt.h"

namespace opbench {
namespace {

void find_recompiles(const ProfileView& view, const HostLogs& logs, std::vector<Finding>& found) {
  const std::int64_t steps = view.rules().warm_steps;
  const auto late = logs.compiled_after(steps);
  if (late.empty()) return;
  Finding finding = view.finding(
      "recompile", fmt::format("{} operators still compile after step {}", late.size(), steps), {});
  for (std::size_t i = 0; i < std::min(late.size(), kMostEvidence); ++i) {
    finding.evidence.push_back({fmt::format("{} in {} {}", late[i].first, late[i].second,
                                            late[i].second == 1 ? "step" : "steps"),
                                {}});
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
  const bool is_warning = rule.warning > 0 && step_share.value_or(share) >= rule.warning;
  return {std::string(name), std::move(what), is_warning, share, step_share, {},
          rule.advice,       rule.tries};
}

Finding ProfileView::finding(std::string_view name, std::string what,
                             const std::vector<const HotOperator*>& operators) const {
  std::vector<Evidence> evidence;
  double sum = 0, of_step = 0;
  for (const HotOperator* one : operators) {
    const double part = step_ ? step_share(result_, *step_, *one) : share(*one);
    sum += share(*one);
    of_step += part;
    if (evidence.size() < kMostEvidence) {
      evidence.push_back({fmt::format("{:.1f} % {}", 100 * part, operator_text(*one)), one->first});
    }
  }
  Finding one = finding(name, std::move(what), sum,
                        step_ && !operators.empty() ? std::optional(of_step) : std::nullopt);
  one.evidence = std::move(evidence);
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
  find_fusible(view, found);
  find_recompiles(view, result.logs, found);
  find_dynamic(view, found);
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    return a.step_share.value_or(a.share) > b.step_share.value_or(b.share);
  });
  return found;
}

}  // namespace opbench
