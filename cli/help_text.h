#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opbench {

/// Help in lines of at most `width` columns. What stands in a second column stays there, prose that
/// fills its lines is filled again, and a command that is too long goes on behind a backslash.
std::string help_within(std::string_view text, std::size_t width);

}  // namespace opbench
