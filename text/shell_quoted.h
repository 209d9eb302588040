#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opbench {

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
