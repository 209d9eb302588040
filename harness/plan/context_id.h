#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/case_values.h"
#include "harness/plan/context.h"

namespace opbench {

/// What the id of a context says, such as "shuffle_unit[N=8,fp16]".
struct ContextId {
  std::string name;
  Symbols symbols;
  DType dtype = DType::fp32;
};

/// Nothing for what has another form, as the id of a case of an operator.
std::optional<ContextId> parse_context_id(std::string_view id);

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
