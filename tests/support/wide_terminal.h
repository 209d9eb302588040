#pragma once

#include <stdlib.h>

namespace opbench {

/// During its lifetime commands do not wrap lines, so that tests can search for a whole text.
struct WideTerminal {
  WideTerminal() { setenv("COLUMNS", "1000", 1); }
  ~WideTerminal() { unsetenv("COLUMNS"); }
  WideTerminal(const WideTerminal&) = delete;
  WideTerminal& operator=(const WideTerminal&) = delete;
};

}  // namespace opbench
