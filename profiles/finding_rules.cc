#include "profiles/finding_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "profiles/task.h"

namespace opbench {
namespace {

std::vector<const HotOperator*> of_groups(const ProfileView& view,
                                          const std::vector<std::string_view>& names) {
  std::vector<const HotOperator*> all;
  for (const HotOperator& one : view.operators()) {
    if (view.rules().is_in(names, one)) all.push_back(&one);
  }
  return all;
}

/// Count and time of operators between the same two others.
struct Between {
  std::int64_t count = 0, total_ps = 0;
  SourceRow first;
};

// Adds the operators before and after these as evidence, the longest time first.
void add_neighbours(const ProfileView& view, const std::vector<const HotOperator*>& operators,
                    Finding& finding) {
  if (!view.spots().order().is_known()) return;
  const std::unordered_set<const HotOperator*> members(operators.begin(), operators.end());
  std::unordered_map<std::string, Between> around;
  for (const Neighbours& one : view.spots().order().neighbours()) {
    const HotOperator* middle = view.by_id(one.op);
    if (!members.contains(middle)) continue;
    Between& between = around[fmt::format("{} -> {} -> {}", type_text(view, one.before),
                                          operator_text(*middle), type_text(view, one.after))];
    if (between.count == 0) between.first = middle->first;
    between.count += one.count;
    add_saturated(between.total_ps, one.total_ps);
  }
  std::vector<std::pair<std::string, Between>> order(around.begin(), around.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    const std::int64_t first = a.second.total_ps, second = b.second.total_ps;
    return first != second ? first > second : a.first < b.first;
  });
  if (order.size() > kMostEvidence) order.resize(kMostEvidence);
  if (!order.empty()) finding.evidence.clear();
  for (const auto& [text, between] : order) {
    finding.evidence.push_back(
        {fmt::format("{}, {} in {} us", text, times_text(between.count), us_text(between.total_ps)),
         between.first});
  }
}

/// The noun for tasks of a group, singular and plural.
struct GroupNoun {
  std::string_view one, several;
};

void find_group(const ProfileView& view, std::string_view rule_name, const GroupNoun& noun,
                const std::vector<std::string_view>& groups, std::vector<Finding>& found) {
  const FindingRule& rule = view.rules().finding(rule_name);
  const std::vector<const HotOperator*> operators = of_groups(view, groups);
  std::int64_t count = 0;
  for (const HotOperator* one : operators) count += one->time.count;
  Finding finding = view.finding(rule_name, "", operators);
  if (count == 0 || count <= rule.times || finding.share < rule.share) return;
  finding.what = fmt::format(
      "{} {} {:.1f} % of the device time{}", count,
      count == 1 ? fmt::format("{} takes", noun.one) : fmt::format("{} take", noun.several),
      100 * finding.share, view.spots().has_types() ? "" : ", by names: there are no types");
  add_neighbours(view, operators, finding);
  found.push_back(std::move(finding));
}

// The first dtype of the rule that a tensor has; AI Core has no kernel for it.
std::string culprit(const HotOperator& one, const FindingRule& rule) {
  for (const std::string& dtype : rule.types) {
    for (const std::string* side : {&one.input_dtypes, &one.output_dtypes}) {
      std::string padded = ";" + *side + ";";
      if (padded.find(";" + dtype + ";") != std::string::npos ||
          padded.find(";DT_" + dtype + ";") != std::string::npos) {
        return dtype;
      }
    }
  }
  return {};
}

}  // namespace

std::string type_text(const ProfileView& view, std::uint32_t id) {
  const HotOperator* one = view.by_id(id);
  if (one == nullptr) return "?";
  return one->type.empty() ? one->name : one->type;
}

void find_conversions(const ProfileView& view, std::vector<Finding>& found) {
  find_group(view, "trans_data", {"TransData", "TransData"}, {"TransData"}, found);
  find_group(view, "cast", {"Cast", "Cast"}, {"Cast"}, found);
  find_group(view, "copies", {"copy or transpose", "copies and transposes"},
             {"copies", "Transpose"}, found);
}

void find_aicpu(const ProfileView& view, std::vector<Finding>& found) {
  const FindingRule& rule = view.rules().finding("aicpu");
  const std::vector<const HotOperator*> operators = of_groups(view, {"AI_CPU"});
  std::int64_t longest = 0, count = 0;
  for (const HotOperator* one : operators) {
    longest = std::max(longest, one->time.most_ps);
    count += one->time.count;
  }
  if (operators.empty() || longest < rule.longer_than_ps) return;
  Finding finding = view.finding("aicpu", "", operators);
  finding.what = fmt::format("{} on AI_CPU, {:.1f} % of the device time",
                             count == 1 ? "1 task runs" : fmt::format("{} tasks run", count),
                             100 * finding.share);
  for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
    const std::string dtype = culprit(*operators[i], rule);
    finding.evidence[i].text += dtype.empty() ? "; no dtype explains it: AI Core has no such kernel"
                                              : fmt::format("; {} is the cause", dtype);
  }
  found.push_back(std::move(finding));
}

}  // namespace opbench
