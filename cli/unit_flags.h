#pragma once

#include "cli/run_flags.h"
#include "ranks/ranks.h"

namespace opbench {

/// Whether what is asked for is run unit by unit, each recorded as it ends.
bool runs_in_units(const RunFlags& flags, const Ranks& ranks);

/// Whether processes on this machine are to measure in turn.
bool takes_turns(const RunFlags& flags, const RunOptions& options, const Ranks& ranks);

/// Errors: throws Error for flags that do not go with --part, --resume, --unit-timeout and several
/// ranks.
void require_takeable_by_units(const RunFlags& flags, const Ranks& ranks);

}  // namespace opbench
