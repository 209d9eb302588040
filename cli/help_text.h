#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opbench {

/// Wraps help at `width` columns. Text of a second column stays in that column. Long paragraphs are
/// filled again. A long command continues after a backslash.
std::string help_within(std::string_view text, std::size_t width);

}  // namespace opbench
