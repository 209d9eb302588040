#pragma once

#include "harness/plan/plan_search.h"

namespace opbench {

/// From the point as written to `best`, in the order in which steps spare most: one change at a
/// time, and several together only where none of them alone spares anything. Changes that spare
/// nothing are left out, so every point costs less than the one before. The first is not among
/// them.
std::vector<FoundPlan> ladder_to(const FoundPlan& best, const PlanCost& before, PlanSearch& search);

/// A good plan near `start`: changes one choice at a time as long as that spares something, then
/// two.
FoundPlan descend(FoundPlan start, const std::vector<Choice>& choices, PlanSearch& search);

}  // namespace opbench
