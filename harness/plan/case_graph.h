#pragma once

#include "harness/plan/case.h"
#include "harness/plan/graph.h"

namespace opbench {

/// Graph of a case. With `backward`, the mean of every floating output and reverse-mode
/// differentiation follow.
/// Errors: throws Error, prefixed with the case's origin, if the operator refuses the shapes or has
/// no gradient.
Graph build_graph(const Case& c);

}  // namespace opbench
