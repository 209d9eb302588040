#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace opbench {

/// Bad input: a flag, a file or a shape that cannot be used. The message is one line that states
/// the place, what was found and what is allowed. Its control characters are escaped. The command
/// line exits with code 2.
struct Error : std::runtime_error {
  explicit Error(const std::string& message);
  Error(const std::string& place, const std::string& message) : Error(place + ": " + message) {}
};

/// Good input that could not be processed: I/O, memory. The command line exits with code 3.
struct RunError : Error {
  using Error::Error;
};

/// The candidate with the smallest edit distance to `text`, for "did you mean"; empty if all are
/// too far.
std::string nearest(std::string_view text, std::span<const std::string> candidates);

/// "; did you mean 'softplus'?" or "; allowed: a, b, c".
std::string suggestion(std::string_view text, std::span<const std::string> candidates);

}  // namespace opbench
