#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace opbench {

/// Checks before a long run that `path` can be written. Errors: throws RunError "cannot write ...:
/// reason".
void check_writable(const std::string& path);

/// Writes a file as a whole: to a temporary name beside it, renamed when complete, so that no half
/// file appears under `path`. Errors: throws RunError; what stood at `path` before stays.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace opbench
