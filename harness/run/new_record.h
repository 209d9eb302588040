#pragma once

#include "harness/plan/plan.h"
#include "harness/plan/selection.h"
#include "harness/record/record.h"

namespace opbench {

/// The record of one variant on one case before anything has run: everything but status, times and
/// accuracy.
Record new_record(const PlannedCase& planned, const Selection& selection, int threads,
                  bool is_cold);

}  // namespace opbench
