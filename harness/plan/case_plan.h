#pragma once

#include <vector>

#include "harness/plan/case_files.h"
#include "harness/plan/graph.h"
#include "harness/plan/options.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

/// A case with its graph. Each requested variant has its kernels, or the reason why it has none.
struct PlannedCase {
  Case spec;
  Graph graph;
  std::vector<SelectedKernels> variants;
};

/// Plans and checks all selected single operators. Cases are in the order of the command line and
/// the files, crossed with dtypes, then formats. The filter and the part are applied. Nothing has
/// run yet.
/// Errors: throws Error on any mistake in the command line or a file.
std::vector<PlannedCase> make_case_plan(const CaseSelection& selection, CaseFiles& files);
/// Like the overload above, for callers that do not need the files.
std::vector<PlannedCase> make_case_plan(const CaseSelection& selection);

}  // namespace opbench
