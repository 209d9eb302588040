#pragma once

#include "harness/plan/case.h"
#include "harness/run/record.h"

namespace opbench {

/// Holds a result against what the case file expects of it: a failure that is expected becomes
/// `xfailed`, as one at a known limit of its kernel is already, and a pass where a failure is
/// expected becomes `failed` and loses its times. The reason of the file joins that of the record.
/// Nothing else changes.
void apply_expectation(const Case& c, Record& record);

}  // namespace opbench
