#pragma once

#include <iosfwd>
#include <span>

#include "harness/plan/work_unit.h"

namespace opbench {

/// Prints the planned graph of every step of the contexts. Each task has a line, in execution
/// order, with its kernel and the storage of its tensors. Inserted tasks have their cause. The
/// step's conversions by cause follow.
void explain(std::ostream& out, std::span<const WorkUnit> units);

/// Writes the graphs as Graphviz DOT, a cluster per step. Inserted tasks are highlighted, and their
/// edges have the cause as a label.
void write_dot(std::ostream& out, std::span<const WorkUnit> units);

}  // namespace opbench
