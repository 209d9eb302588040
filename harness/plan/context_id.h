#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/case_values.h"
#include "harness/plan/context.h"

namespace opbench {

/// Parts of a context's id, such as "shuffle_unit[N=8,fp16]".
struct ContextId {
  std::string name;
  Symbols symbols;
  DType dtype = DType::fp32;
};

/// Returns nothing for text of another form, such as the id of an operator's case.
std::optional<ContextId> parse_context_id(std::string_view id);

/// A context that --case names by its id.
struct NamedContext {
  Context context;
  DType dtype = DType::fp32;
};

/// Contexts that are selected by their ids. They are searched in the selected case files. If no
/// file is selected, they are searched in the folder `cases` and the installed cases.
/// Errors: throws Error for a context that is not found.
std::vector<NamedContext> contexts_by_id(const CaseSelection& selection);

}  // namespace opbench
