#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case_plan.h"
#include "harness/plan/options.h"
#include "harness/run/record.h"

namespace opbench {

/// Wraps a kernel that was prepared for a problem.
using Wrap = Launch (*)(Launch honest, const Problem& problem);

/// Plans one variant of a case. Errors: throws Error if the id or the variant is wrong.
PlannedCase plan_one(const std::string& case_id, std::string_view variant);

/// Runs a case whose first node is computed by `wrap` around the planned kernel, verified and timed
/// as in every run. One call at a time, because the wrapper is stored globally.
Record run_planted(PlannedCase planned, Wrap wrap, const RunOptions& options, int threads);

/// Options for runs that are only verified: two samples in `seconds`.
RunOptions short_run(double seconds = 0.002);

/// Reads and writes one logical element of an output (input) as fp64.
double value_at(const TensorDesc& desc, const void* storage, std::int64_t place);
void put_value(const TensorDesc& desc, void* storage, std::int64_t place, double value);

}  // namespace opbench
