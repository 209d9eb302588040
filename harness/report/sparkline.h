#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace opbench {

/// Counts as a row of bars, one column each, the tallest for the largest; a blank for none.
/// In ASCII where `is_unicode` is false.
std::string sparkline(std::span<const std::int64_t> counts, bool is_unicode = true);

}  // namespace opbench
