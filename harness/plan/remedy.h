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

/// Steps from the written point to `best`, ordered by their savings. Each step is a single change.
/// Changes are combined only if no single one of them saves anything. Changes that save nothing are
/// left out, so every point costs less than the one before. The written point is not included.
std::vector<FoundPlan> steps_to(const FoundPlan& best, const PlanCost& before, PlanSearch& search);

/// Local search from `start`: changes one choice at a time as long as that saves something, then
/// two.
FoundPlan descend(FoundPlan start, const std::vector<Choice>& choices, PlanSearch& search);

/// One setting that a step changes.
struct Change {
  std::string name;  ///< name of a rule or an operator
  std::string word;
  bool is_rule = false;

  bool operator==(const Change&) const = default;
};

/// Calls of one kind of kernel in a plan, and the bytes that they read and write.
struct KernelWork {
  double calls = 0, bytes = 0;
};

/// The kernels of a plan that rules and variants can save.
struct ConversionWork {
  KernelWork trans_data, casts, copies;
};

/// Time that a step saves on a device, estimated from a profile.
struct EstimatedSaving {
  double us = 0;
  std::optional<double> step_share;  ///< of the profiled step, if it is known
  std::string without;               ///< kinds of kernels that change and have no price: "Cast"
};

/// A step of a remedy: its changes to the step before, and the cost of its plan.
struct RemedyStep {
  std::vector<Change> changes;
  PlanSetting setting;
  PlanCost cost;
  ConversionWork work = {};
  std::optional<EstimatedSaving> estimate = {};  ///< against the step before
};

/// Steps from a context's written step to the best plan that a search found.
struct Remedy {
  std::string context;  ///< id of the context
  std::string start;    ///< name of the written step
  PlanSetting written;
  PlanCost before;
  ConversionWork work_before;
  std::vector<RemedyStep> steps;    ///< largest saving first; each costs less than the one before
  std::optional<LowerBound> bound;  ///< of all graphs; none: the search did not reach all graphs
  bool is_proved = false;           ///< no setting costs less than the last step
  double settings = 0;              ///< number of possible settings
  std::size_t graphs = 0;           ///< number of distinct graphs that were searched
  std::int64_t plans = 0;           ///< completed plans; settings with equal outcomes share a plan
  std::int64_t tasks = 0;           ///< planned tasks
  double seconds = 0;

  const PlanCost& after() const { return steps.empty() ? before : steps.back().cost; }
};

/// Limits of a search.
struct RemedyLimits {
  std::int64_t most_tasks = 100'000'000;  ///< planned in total
  std::size_t most_points = 4096;         ///< of the choices that decide on the graph
  std::size_t most_kept = 2'000'000;      ///< tasks of all graphs, which are kept in memory
};

/// Searches the rules and variants of a step for the plan with the fewest TransData, then Cast,
/// copies and bytes. The results of the step do not change. `step` is planned, not run. Of equal
/// plans, the one with the fewest changes is taken.
/// Errors: throws Error if the step as written cannot be planned.
Remedy find_remedy(const Context& context, const ContextStep& step, DType dtype,
                   const RemedyLimits& limits = {});

}  // namespace opbench
