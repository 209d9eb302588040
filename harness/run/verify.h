#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compare/judge/stats.h"
#include "harness/plan/selection.h"
#include "harness/run/workspace.h"

namespace opbench {

/// What verification found on the outputs of all nodes together.
struct Verification {
  Judgement judgement;
  Stats stats;  ///< joined over the outputs of the operator under test and its gradient
};

/// Runs the bound graph of `selection` once on what the inputs hold and compares every node with
/// its reference, each node on the inputs it really got, block by block without a second copy of
/// anything. Fails too if an input changed or a guard zone was written.
Verification verify(Workspace& workspace, const BoundGraph& bound, const Selection& selection,
                    int threads);

/// `verify` on the data of the workspace with corner values mixed in: those that `selection` takes
/// and that do not drown the others. `data` and `seed` are what the inputs were filled with.
Verification verify_with_corners(Workspace& workspace, const BoundGraph& bound,
                                 const Selection& selection, std::span<const Distribution> data,
                                 std::uint64_t seed, int threads);

}  // namespace opbench
