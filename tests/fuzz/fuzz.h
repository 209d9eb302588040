#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tensor/error.h"

namespace opbench {

/// Ends the process so that libFuzzer keeps the input.
inline void require(bool holds, const char* rule, const std::string& found) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s; found: %s\n", rule, found.c_str());
  std::abort();
}

/// An error is one line without control characters.
inline void require_one_line(const std::string& message) {
  for (const char letter : message) {
    const auto byte = static_cast<unsigned char>(letter);
    require(byte >= 0x20 && byte != 0x7f, "the message is one printable line", message);
  }
}

/// True if `work` ends without an Error. Any other exception ends the process.
template <class Work>
bool succeeds(Work&& work, const std::string& prefix = "") {
  try {
    work();
    return true;
  } catch (const Error& error) {
    const std::string message = error.what();
    require_one_line(message);
    require(message.starts_with(prefix), "the message says where", message);
    return false;
  }
}

}  // namespace opbench
