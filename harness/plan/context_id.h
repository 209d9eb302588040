#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/plan/case_values.h"

namespace opbench {

/// What the id of a context says, such as "shuffle_unit[N=8,fp16]".
struct ContextId {
  std::string name;
  Symbols symbols;
  DType dtype = DType::fp32;
};

/// Nothing for what has another form, as the id of a case of an operator.
std::optional<ContextId> parse_context_id(std::string_view id);

}  // namespace opbench
