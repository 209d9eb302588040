#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace opbench {

/// Bad input: a flag, a file or a shape that cannot be used. The message is one line that says
/// where, what was found and what is allowed; control characters in it are escaped. The command
/// line answers with exit code 2.
struct Error : std::runtime_error {
  explicit Error(const std::string& message);
};

/// Good input that could not be carried out: I/O, memory. Exit code 3.
struct RunError : Error {
  using Error::Error;
};

/// The candidate with the smallest edit distance to `text`, for "did you mean"; empty if none is
/// near.
std::string nearest(std::string_view text, std::span<const std::string> candidates);

/// "; did you mean 'softplus'?" or "; allowed: a, b, c".
std::string suggestion(std::string_view text, std::span<const std::string> candidates);

}  // namespace opbench
