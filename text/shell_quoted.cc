#include "text/shell_quoted.h"

#include <fmt/format.h>

#include "tensor/printable.h"

namespace opbench {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+%@";

bool is_plain(std::string_view word) {
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string in_quotes(std::string_view word) {
  std::string result = "'";
  for (const char letter : word) {
    if (letter == '\'')
      result += "'\\''";
    else
      result += letter;
  }
  return result + "'";
}

// Bytes in octal: shells differ in how many digits of \x they take.
std::string in_escaping_quotes(std::string_view word) {
  std::string result = "$'";
  for (const char letter : word) {
    const bool is_kept = letter == ' ' || (letter != ':' && kPlain.find(letter) != kPlain.npos);
    if (is_kept)
      result += letter;
    else
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(letter));
  }
  return result + "'";
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (is_plain(word)) return std::string(word);
  return printable(word) == word ? in_quotes(word) : in_escaping_quotes(word);
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

}  // namespace opbench
