#pragma once

#include "harness/plan.h"
#include "harness/record.h"

namespace opbench {

/// The record of one variant on one case before anything has run: everything but status, times and
/// accuracy.
Record new_record(const PlannedCase& planned, const Selection& selection, int threads,
                  bool is_cold);

}  // namespace opbench
