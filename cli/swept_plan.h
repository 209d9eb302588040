#pragma once

#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/work_unit.h"

namespace opbench {

/// A selection for each combination of the values of --set: `--set N=1,2 --set C=8` gives two.
/// Errors: throws Error for more than a thousand of them.
std::vector<SelectionText> swept(const SelectionText& text);

/// The units of all combinations, in their order, cases before contexts. A unit that does not
/// depend on a symbol is there once.
std::vector<WorkUnit> swept_plan(const SelectionText& text);

}  // namespace opbench
