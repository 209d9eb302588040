#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace opbench {

/// Counts as a row of bars, one column each, the tallest for the largest; a blank for none.
/// In ASCII where `is_unicode` is false.
std::string sparkline(std::span<const std::int64_t> counts, bool is_unicode = true);

/// False where the environment names a character set that is not UTF-8 (LC_ALL, else LC_CTYPE, else
/// LANG).
bool takes_unicode();

}  // namespace opbench
