#pragma once

#include "harness/plan/options.h"
#include "harness/plan/work_unit.h"
#include "harness/run/record.h"

namespace opbench {

/// Record of a variant or step of a unit before it has run: all fields but status, times and
/// accuracy.
Record new_record(const WorkUnit& unit, std::size_t index, int threads, const RunOptions& options);

/// Remarks of a variant's kernels on their times or, if they are from outside, on their calls;
/// empty without remarks.
std::string remarks_on(const WorkUnit& unit, std::size_t index);

/// Compares a result with the expectation of the case file. An expected failure becomes `xfailed`,
/// like a failure at a known limit of its kernel. A pass where a failure is expected becomes
/// `failed` and loses its times. The reason of the file is added to that of the record. Other
/// results do not change.
void apply_expectation(const Case& c, Record& record);

}  // namespace opbench
