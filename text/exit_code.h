#pragma once

namespace opbench {

/// The exit codes of every command.
enum ExitCode {
  kAllWell = 0,
  kVerdictFailed = 1,
  kBadInput = 2,        ///< nothing was run
  kCouldNotFinish = 3,  ///< I/O, memory, a case that crashed, interrupted
  kNothingToJudge = 4,
  kTooNoisy = 5,  ///< of the machine, to judge speed
};

}  // namespace opbench
