#pragma once

#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/work_unit.h"

namespace opbench {

/// A selection for each combination of the values that --set gives: of `--set N=1,2 --set C=8` two.
/// Errors: throws Error for more than a thousand of them.
std::vector<SelectionText> swept(const SelectionText& text);

/// The units that each combination selects, one combination after the other, cases before contexts;
/// those that do not depend on a symbol are there once.
std::vector<WorkUnit> swept_plan(const SelectionText& text);

}  // namespace opbench
