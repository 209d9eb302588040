#pragma once

#include <deque>
#include <vector>

#include "harness/plan/case_files.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/plan.h"

namespace opbench {

/// A selection for each combination of the values that --set gives: of `--set N=1,2 --set C=8` two.
/// Errors: throws Error for more than a thousand of them.
std::vector<SelectionText> swept(const SelectionText& text);

/// What is selected with each combination, one after the other; cases that do not depend on a
/// symbol are there once.
struct SweptPlan {
  explicit SweptPlan(const SelectionText& text);

  std::deque<CaseFiles> files;  ///< of each combination
  std::vector<PlannedCase> cases;
  std::vector<PlannedContext> contexts;
};

}  // namespace opbench
