#pragma once

#include <string>

#include "harness/run/run_result.h"

namespace opbench::report {

/// What a busy machine did to the row: "disturbed, preempted 34 times, outliers 2 of 9"; empty
/// where nothing. An outlier took more than 1.5 times the median.
std::string disturbance_text(const Record& record);

/// Whether the machine did other work meanwhile, and how that shows, in one line; empty: it did
/// not.
std::string disturbance_text(const RunResult& result);

}  // namespace opbench::report
