#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/choices.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/lower_bound.h"
#include "harness/plan/plan_search.h"
#include "harness/plan/plan_tasks.h"

namespace opbench {

/// From the point as written to `best`, in the order in which steps spare most: one change at a
/// time, and several together only where none of them alone spares anything. Changes that spare
/// nothing are left out, so every point costs less than the one before. The first is not among
/// them.
std::vector<FoundPlan> ladder_to(const FoundPlan& best, const PlanCost& before, PlanSearch& search);

/// A good plan near `start`: changes one choice at a time as long as that spares something, then
/// two.
FoundPlan descend(FoundPlan start, const std::vector<Choice>& choices, PlanSearch& search);

/// One thing that a step of a ladder sets.
struct Change {
  std::string name;  ///< of a rule or an operator
  std::string word;
  bool is_rule = false;

  bool operator==(const Change&) const = default;
};

/// A step of a ladder: what it changes beside the one before, and what its plan costs.
struct LadderStep {
  std::vector<Change> changes;
  PlanSetting setting;
  PlanCost cost;
};

/// The way from a context's step as written to the best plan that a search found.
struct Remedy {
  std::string context;  ///< its id
  std::string start;    ///< the name of the step
  PlanSetting written;
  PlanCost before;
  std::vector<LadderStep> ladder;   ///< best step first; each costs less than the one before
  std::optional<LowerBound> bound;  ///< of all graphs; none: there are more than were looked at
  bool is_proved = false;           ///< no setting costs less than the last step
  double settings = 0;              ///< how many there are
  std::size_t graphs = 0;           ///< different ones that were looked at
  std::int64_t plans = 0;           ///< completed, one for all settings that come to the same
  std::int64_t tasks = 0;           ///< planned
  double seconds = 0;

  const PlanCost& after() const { return ladder.empty() ? before : ladder.back().cost; }
};

/// How far a search goes.
struct RemedyLimits {
  std::int64_t most_tasks = 100'000'000;  ///< planned in all
  std::size_t most_points = 4096;         ///< of the choices that decide on the graph
  std::size_t most_kept = 2'000'000;      ///< tasks of all graphs, which are held in memory
};

/// Searches the rules and variants of a step for the plan with the fewest TransData, then Cast,
/// copies and bytes, whose results are those of the step; `step` is planned, not run. Where several
/// cost the same it is the one with the fewest changes. The ladder takes the change that spares
/// most first, and changes that spare nothing alone together.
/// Errors: throws Error if the step cannot be planned as it is written.
Remedy find_remedy(const Context& context, const ContextStep& step, DType dtype,
                   const RemedyLimits& limits = {});

}  // namespace opbench
