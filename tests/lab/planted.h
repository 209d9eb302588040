#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case_plan.h"
#include "harness/plan/options.h"
#include "harness/run/record.h"

namespace opbench {

/// Turns a kernel that was prepared for a problem into another.
using Wrap = Launch (*)(Launch honest, const Problem& problem);

/// One variant of a case, planned. Errors: throws Error if the id or the variant is wrong.
PlannedCase plan_one(const std::string& case_id, std::string_view variant);

/// The record of a case whose first node is computed by `wrap` around the kernel that was planned,
/// verified and timed as in every run. One at a time: a kernel has no room for what it wraps.
Record run_planted(PlannedCase planned, Wrap wrap, const RunOptions& options, int threads);

/// Options for runs that are only to be judged: two samples in so much time.
RunOptions short_run(double seconds = 0.002);

/// One logical element of an output (input) as fp64, and back.
double value_at(const TensorDesc& desc, const void* storage, std::int64_t place);
void put_value(const TensorDesc& desc, void* storage, std::int64_t place, double value);

}  // namespace opbench
