#pragma once

#include <optional>
#include <span>

#include "harness/plan/case_plan.h"

namespace opbench {

/// Plans a single call as a case of one variant. The format is the first of `formats` that `kernel`
/// takes. If it takes none of them, the call's own format is tried, then those of its operator.
/// Returns nothing if `kernel` takes the call in no format.
std::optional<PlannedCase> plan_call(const Problem& problem, const Kernel& kernel,
                                     std::span<const Format> formats = {});

}  // namespace opbench
