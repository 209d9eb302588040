#pragma once

#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/context.h"

namespace opbench {

/// A context that --case names by its id.
struct NamedContext {
  Context context;
  DType dtype = DType::fp32;
};

/// The contexts that are selected by their ids, looked for in the case files that are selected or,
/// without any, in the folder `cases` and those installed. Errors: throws Error for one that is
/// nowhere.
std::vector<NamedContext> contexts_by_id(const CaseSelection& selection);

}  // namespace opbench
