#include "harness/run/unit_plan.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "harness/run/plan_digest.h"

namespace opbench::units {

UnitPlan plan_units(std::vector<PlannedCase> cases, std::vector<PlannedContext> contexts,
                    const RunOptions& options, const std::string& isa) {
  UnitPlan plan;
  for (const PlannedCase& planned : cases) {
    plan.units.push_back({case_id(planned.spec), expected_seconds(planned, options)});
  }
  for (const PlannedContext& planned : contexts) {
    plan.units.push_back({planned.id(), expected_seconds(planned, options)});
  }
  plan.cases = std::move(cases);
  plan.contexts = std::move(contexts);
  plan.digest = plan_digest(plan, options, isa);
  return plan;
}

std::vector<std::size_t> largest_first(const UnitPlan& plan) {
  std::vector<std::size_t> order(plan.units.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plan.units[a].seconds > plan.units[b].seconds;
  });
  return order;
}

std::vector<int> part_of_units(const UnitPlan& plan, int count) {
  using Load = std::pair<double, int>;  // seconds, part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> parts;
  for (int part = 0; part < count; ++part) parts.emplace(0, part);
  std::vector<int> part_of(plan.units.size());
  for (const std::size_t unit : largest_first(plan)) {
    const auto [seconds, part] = parts.top();
    parts.pop();
    part_of[unit] = part;
    parts.emplace(seconds + plan.units[unit].seconds, part);
  }
  return part_of;
}

std::vector<std::size_t> units_of(const UnitPlan& plan, const Part& part) {
  const std::vector<int> part_of = part_of_units(plan, part.count);
  std::vector<std::size_t> units;
  for (std::size_t i = 0; i < part_of.size(); ++i) {
    if (part_of[i] == part.index - 1) units.push_back(i);
  }
  return units;
}

}  // namespace opbench::units
