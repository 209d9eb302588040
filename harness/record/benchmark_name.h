#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/record/record.h"

namespace opbench {

/// What other programs know the record by: "relu[64,fp32]/native/threads:2", "/cold" at its end
/// where it was.
std::string benchmark_name(const Record& record);
/// The names of all, in their order; "/isa:avx2" follows where the same was measured with several
/// instruction sets, so that other programs do not take one for a repetition of the other.
std::vector<std::string> benchmark_names(std::span<const Record> records);

}  // namespace opbench
