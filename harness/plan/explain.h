#pragma once

#include <iosfwd>
#include <span>

#include "harness/plan/work_unit.h"

namespace opbench {

/// The planned graph of every step of the contexts: a line per task in execution order with its
/// kernel and the storage of its tensors; inserted tasks with their cause. After each step its
/// conversions by cause.
void explain(std::ostream& out, std::span<const WorkUnit> units);

/// The same as Graphviz DOT, a cluster per step; inserted tasks stand out, and their edges carry
/// the cause.
void write_dot(std::ostream& out, std::span<const WorkUnit> units);

}  // namespace opbench
