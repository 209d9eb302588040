#include "text/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "tensor/utf8.h"

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

// Escapes bytes in octal, because shells differ in the number of digits after \x.
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

/// Splits a line into words.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line) {}

  std::vector<std::string> read() {
    while (place_ < line_.size()) {
      const char letter = line_[place_++];
      if (letter == ' ')
        end_word();
      else if (letter == '\'')
        quoted(false);
      else if (letter == '$' && next() == '\'')
        ++place_, quoted(true);
      else
        put(letter == '\\' && place_ < line_.size() ? line_[place_++] : letter);
    }
    end_word();
    return std::move(words_);
  }

 private:
  char next() const { return place_ < line_.size() ? line_[place_] : '\0'; }

  void put(char letter) { word_ = word_.value_or("") + letter; }

  void end_word() {
    if (word_) words_.push_back(*word_);
    word_.reset();
  }

  // Reads up to the closing quote. Supports the escapes of `in_escaping_quotes`.
  void quoted(bool has_escapes) {
    word_ = word_.value_or("");
    while (place_ < line_.size() && line_[place_] != '\'') {
      unsigned code = 0;
      const char* const begin = line_.data() + place_ + 1;
      const std::size_t digits = std::min<std::size_t>(3, line_.size() - place_ - 1);
      const bool is_code = has_escapes && line_[place_] == '\\' &&
                           std::from_chars(begin, begin + digits, code, 8).ptr == begin + 3;
      put(is_code ? static_cast<char>(code) : line_[place_]);
      place_ += is_code ? 4 : 1;
    }
    ++place_;
  }

  std::string_view line_;
  std::size_t place_ = 0;
  std::optional<std::string> word_;  ///< part of a word read so far; empty between words
  std::vector<std::string> words_;
};

std::string& name() {
  static std::string name = "opbench";
  return name;
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

std::vector<std::string> shell_words(std::string_view line) { return Words(line).read(); }

const std::string& program_name() { return name(); }

void set_program_name(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.empty()) name() = file;
}

std::string with_program_name(std::string_view text) {
  constexpr std::string_view kUsual = "opbench";
  std::string result;
  while (true) {
    const std::size_t found = text.find(kUsual);
    result += text.substr(0, found);
    if (found == text.npos) return result;
    text.remove_prefix(found + kUsual.size());
    constexpr std::string_view kBefore = " `'\"(\n";
    const bool is_word =
        (result.empty() || kBefore.find(result.back()) != kBefore.npos) && text.starts_with(' ');
    result += is_word ? program_name() : std::string(kUsual);
  }
}

}  // namespace opbench
