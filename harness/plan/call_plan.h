#pragma once

#include <optional>
#include <span>

#include "harness/plan/case_plan.h"

namespace opbench {

/// A single call as a case of one variant, in the first of `formats` that `kernel` takes; none of
/// them: the call's own format, then those of its operator. Nothing if it takes the call in none.
std::optional<PlannedCase> plan_call(const Problem& problem, const Kernel& kernel,
                                     std::span<const Format> formats = {});

}  // namespace opbench
