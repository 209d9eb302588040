#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Name of the program in messages and in commands to type: "opbench", or the name of another
/// program with opbench's commands.
const std::string& program_name();

/// Sets the name from argv[0]; ignored if that is empty. Must be called before all other functions.
void set_program_name(std::string_view path);

/// Replaces "opbench" in commands of a text, such as "opbench run", by the program's name. Paths
/// that end in it, and longer words, are unchanged.
std::string with_program_name(std::string_view text);

/// Exit codes of every command.
enum ExitCode {
  kAllWell = 0,
  kVerdictFailed = 1,
  kBadInput = 2,        ///< no case was run
  kCouldNotFinish = 3,  ///< I/O, memory, a case that crashed, interrupted
  kNothingToJudge = 4,
  kTooNoisy = 5,  ///< the machine is too noisy to judge speed
};

/// Quotes any `word` for a shell: unchanged if it has no special characters, else in quotes. The
/// result is always one printable line: words with unprintable characters are quoted as in bash,
/// zsh and ksh, $'\033'.
std::string shell_quoted(std::string_view word);

/// Returns a command line: quoted words with blanks between them.
std::string shell_line(const std::vector<std::string>& words);

/// Splits an untrusted command line into words. Shell syntax in addition to one command, such as
/// `$(id)` or `; id`, is part of a word.
std::vector<std::string> shell_words(std::string_view line);

}  // namespace opbench
