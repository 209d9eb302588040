#pragma once

#include <stdexcept>
#include <string>

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

}  // namespace opbench
