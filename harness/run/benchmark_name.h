#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/record.h"

namespace opbench {

/// What other programs know a result by: "relu[64,fp32]/native/threads:2", "/cold" at its end where
/// caches were emptied. An empty variant is left out: all of the case.
std::string benchmark_name(std::string_view case_id, std::string_view variant, int threads,
                           bool is_cold);
std::string benchmark_name(const Record& record);
/// The names of all, in their order; "/isa:avx2" follows where the same was measured with several
/// instruction sets, so that other programs do not take one for a repetition of the other.
std::vector<std::string> benchmark_names(std::span<const Record> records);

}  // namespace opbench
