#pragma once

#include "profiles/profiled_case.h"

namespace opbench {

/// Operators that move data and whose attributes are words or follow from the shapes: TransData,
/// Slice, AsStrided, BroadcastTo, Tile and Split. Returns false for others; else the case is set,
/// or the obstacle. `one` is resolved.
bool build_moved_case(const ProfiledOperator& one, BuiltCase& built);

}  // namespace opbench
