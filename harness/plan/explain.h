#pragma once

#include <iosfwd>

#include "harness/plan/context_plan.h"

namespace opbench {

/// The planned graph of every step: a line per task in execution order with its kernel and the
/// storage of its tensors; inserted tasks with their cause. After each step its conversions by
/// cause.
void explain(std::ostream& out, const PlannedContext& planned);

/// The same as Graphviz DOT, a cluster per step; inserted tasks stand out, and their edges carry
/// the cause.
void write_dot(std::ostream& out, std::span<const PlannedContext> planned);

}  // namespace opbench
