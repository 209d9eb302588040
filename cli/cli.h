#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace opbench {

/// The exit codes of every command.
enum ExitCode {
  kAllWell = 0,
  kVerdictFailed = 1,
  kBadInput = 2,        ///< nothing was run
  kCouldNotFinish = 3,  ///< I/O, memory, a case that crashed, interrupted
  kNothingToJudge = 4,
  kTooNoisy = 5,
};

/// Runs opbench with `args` (without the program's name): results to `out`, progress and
/// diagnostics to `err`. Returns the exit code; throws nothing.
int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err);

}  // namespace opbench
