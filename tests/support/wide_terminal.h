#pragma once

#include <stdlib.h>

namespace opbench {

/// Commands print in lines of any length while one is there, so that a text can be found as a
/// whole.
struct WideTerminal {
  WideTerminal() { setenv("COLUMNS", "1000", 1); }
  ~WideTerminal() { unsetenv("COLUMNS"); }
  WideTerminal(const WideTerminal&) = delete;
  WideTerminal& operator=(const WideTerminal&) = delete;
};

}  // namespace opbench
