#pragma once

#include "harness/plan/work_unit.h"
#include "harness/run/record.h"

namespace opbench {

/// The record of a variant or step of a unit before anything has run: everything but status, times
/// and accuracy.
Record new_record(const WorkUnit& unit, std::size_t index, int threads, bool is_cold);

/// Holds a result against what the case file expects of it: a failure that is expected becomes
/// `xfailed`, as one at a known limit of its kernel is already, and a pass where a failure is
/// expected becomes `failed` and loses its times. The reason of the file joins that of the record.
/// Nothing else changes.
void apply_expectation(const Case& c, Record& record);

}  // namespace opbench
