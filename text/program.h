#pragma once

#include <string>
#include <string_view>

namespace opbench {

/// What the program is called in its messages and in the lines to type: "opbench", or the name of
/// another program that has opbench's commands.
const std::string& program_name();

/// Takes it from argv[0]; what has no name leaves it as it is. To be called before anything else
/// runs.
void set_program_name(std::string_view path);

/// A text with commands to type, "opbench run", in which the program has the name by which it was
/// called. Paths that end in it, and longer words, stay.
std::string with_program_name(std::string_view text);

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
