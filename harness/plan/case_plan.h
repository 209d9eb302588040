#pragma once

#include <vector>

#include "harness/plan/case_files.h"
#include "harness/plan/graph.h"
#include "harness/plan/options.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

/// A case with its graph and, for every variant asked for, the kernels or the reason why not.
struct PlannedCase {
  Case spec;
  Graph graph;
  std::vector<SelectedKernels> variants;
};

/// All single operators that are selected, checked: cases in the order of the command line and the
/// files, crossed with dtypes, then formats; the filter and the part applied. Errors: throws Error
/// on anything that the command line or a file gets wrong. Nothing has run then.
std::vector<PlannedCase> make_case_plan(const CaseSelection& selection, CaseFiles& files);
/// The same, for one who needs the files for nothing else.
std::vector<PlannedCase> make_case_plan(const CaseSelection& selection);

}  // namespace opbench
