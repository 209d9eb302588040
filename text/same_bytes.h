#pragma once

#include <string>

namespace opbench {

/// Do two files hold the same bytes? False where one of them cannot be read.
bool has_same_bytes(const std::string& a, const std::string& b);

}  // namespace opbench
