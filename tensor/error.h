#pragma once

#include <stdexcept>
#include <string>

namespace opbench {

/// Bad input: a flag, a file or a shape that cannot be used. The message is one line that says
/// where, what was found and what is allowed. The command line answers with exit code 2.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Good input that could not be carried out: I/O, memory. Exit code 3.
struct RunError : Error {
  using Error::Error;
};

}  // namespace opbench
