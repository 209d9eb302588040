#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// `word` as a shell reads it back, whatever it holds: as it is where nothing in it means anything
/// to a shell, else in quotes. Always one printable line: words with characters that are not
/// printable are quoted as bash, zsh and ksh have it, $'\033'.
std::string shell_quoted(std::string_view word);

/// A command line: every word quoted, blanks between them.
std::string shell_line(const std::vector<std::string>& words);

/// The words of a command line that was written by whatever: what a shell would do beside running
/// one command, `$(id)` or `; id`, is part of a word.
std::vector<std::string> shell_words(std::string_view line);

}  // namespace opbench
