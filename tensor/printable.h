#pragma once

#include <string>
#include <string_view>

namespace opbench {

/// `text` with control characters as "\x0a": outside text must neither break a line nor drive a
/// terminal.
std::string printable(std::string_view text);

}  // namespace opbench
