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
/// diagnostics to `err`. Returns the exit code, or `kReaderGone`, without a word, where standard
/// output has lost its reader; throws nothing.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err);

/// The same as one of several ranks that were all given `args`. Those behind rank 0 take part in
/// the commands that share their work, and do nothing in the others.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err, Ranks& ranks);

}  // namespace opbench
