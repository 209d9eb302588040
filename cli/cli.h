#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "text/exit_code.h"

namespace opbench {

/// Runs opbench with `args` (without the program's name): results to `out`, progress and
/// diagnostics to `err`. Returns the exit code; throws nothing.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err);

}  // namespace opbench
