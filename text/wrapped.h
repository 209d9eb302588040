#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opbench {

/// Lines of at most `width` columns, broken at spaces, long words where they must be. Lines but the
/// first begin with `indent` spaces; the first is taken to begin after `used` columns.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent,
                    std::size_t used = 0);

/// A command for a shell in lines of at most `width` columns where its words allow it: each line
/// but the last ends in a backslash. Words in single quotes stay whole.
std::string wrapped_command(std::string_view command, std::size_t width, std::size_t indent,
                            std::size_t used = 0);

}  // namespace opbench
