#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opbench {

/// `text` in at most `width` columns: what is longer is cut in the middle, "hcom_allR..586_0_1", so
/// that names with equal beginnings stay apart.
std::string shortened(std::string_view text, std::size_t width);

/// `text` for a message: what is longer than `longest` bytes is cut in the middle, between
/// letters, and says so; both ends stay, since a message names the place first and the reason last.
std::string excerpt(std::string_view text, std::size_t longest);

}  // namespace opbench
