#pragma once

#include <string>
#include <vector>

#include "harness/run/record.h"

namespace opbench {

/// A record of `case_id` in fp32 that passed, without times.
Record record_of(const std::string& case_id = "relu[64,fp32]",
                 const std::string& variant = "native");

/// Like record_of, with one timed call for each of these times.
Record timed_record(std::vector<double> us, const std::string& case_id = "relu[64,fp32]",
                    const std::string& variant = "native");

}  // namespace opbench
