#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/run_flags.h"
#include "harness/run/unit_plan.h"

namespace opbench {

/// The flag of the process for units that makes it measure in turn with others.
inline constexpr const char* kTakeTurns = "--take-turns";

/// Runs the plan, or a part of it, or what is left of it; returns the exit code.
/// Errors: throws Error for a folder of another run, RunError if a unit cannot be recorded.
int run_in_units(const RunFlags& flags, const RunOptions& options, units::UnitPlan plan,
                 CommandContext& context);

}  // namespace opbench
