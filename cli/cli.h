#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "text/program.h"
#include "workers/ranks.h"

namespace opbench {

/// The code of a process that SIGPIPE ended: 128 + 13.
inline constexpr int kReaderGone = 141;

/// Runs opbench with `args` (without the program's name): results to `out`, progress and
/// diagnostics to `err`. Returns the exit code, or `kReaderGone`, without a message, if the reader
/// of standard output has ended. Throws nothing.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err);

/// Runs opbench as one of several ranks that all have the same `args`. Ranks other than 0 take part
/// in commands that share their work. In other commands they do nothing.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err, Ranks& ranks);

}  // namespace opbench
