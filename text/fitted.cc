#include "text/fitted.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/utf8.h"

namespace opbench {
namespace {

constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiBars = {".", ":", "-", "=", "+", "*", "#", "@"};

// Number of bytes of the first `most` letters.
std::size_t bytes_of(std::string_view text, std::size_t most) {
  std::size_t bytes = 0;
  for (std::size_t letters = 0; bytes < text.size(); ++bytes) {
    letters += !continues_utf8(text[bytes]);
    if (letters > most) break;
  }
  return bytes;
}

/// Distributes words over lines.
struct Lines {
  std::size_t width, indent, used;
  std::string text = {};

  void new_line() {
    text += '\n' + std::string(indent, ' ');
    used = indent;
  }

  void add(std::string_view word) {
    if (used > indent && used + utf8_length(word) > width) new_line();
    // Paths have no spaces, so words longer than a line are split at its end.
    while (used + utf8_length(word) > width) {
      std::size_t bytes = bytes_of(word, width - used);
      // A CI system's log would read a line with this beginning as a command.
      if (word.substr(bytes).starts_with("::") && width - used > 1) {
        bytes = bytes_of(word, width - used - 1);
      }
      text += word.substr(0, bytes);
      word.remove_prefix(bytes);
      new_line();
    }
    text += word;
    used += utf8_length(word);
  }

  void space() {
    if (used >= width) return new_line();
    text += ' ';
    ++used;
  }
};

// Splits a command at blanks outside of single quotes.
std::vector<std::string_view> words_as_written(std::string_view command) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i <= command.size(); ++i) {
    if (i < command.size() && command[i] == '\'') is_quoted = !is_quoted;
    if (i < command.size() && (is_quoted || command[i] != ' ')) continue;
    if (i > begin) words.push_back(command.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

constexpr std::string_view kCut = "..";

// Offset of the byte at which letter `index` begins.
std::size_t place_of(std::string_view text, std::size_t index) {
  std::size_t letters = 0, place = 0;
  for (; place < text.size(); ++place) {
    if (continues_utf8(text[place])) continue;
    if (letters == index) break;
    ++letters;
  }
  return place;
}

}  // namespace

std::string sparkline(std::span<const std::int64_t> counts, bool is_unicode) {
  const auto& bars = is_unicode ? kBars : kAsciiBars;
  const auto steps = static_cast<double>(bars.size());
  std::int64_t most = 0;
  for (const std::int64_t count : counts) most = std::max(most, count);
  std::string line;
  for (const std::int64_t count : counts) {
    // At least 1, so that a single value among millions is visible.
    const double height = static_cast<double>(count) / static_cast<double>(most) * steps;
    const auto step = std::min(static_cast<std::size_t>(height), bars.size() - 1);
    line += count == 0 ? std::string_view(" ") : bars[step];
  }
  return line;
}

std::string byte_size_text(double bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  // A number that four digits would round to 1024 uses the next unit.
  for (; bytes >= 1023.95 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

bool takes_unicode() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string name = in_lower_case(value);
    return name.find("utf-8") != name.npos || name.find("utf8") != name.npos;
  }
  return true;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent,
                    std::size_t used) {
  Lines lines{width, indent, used};
  std::size_t place = 0;
  while (place < text.size()) {
    const std::size_t space = std::min(text.find(' ', place), text.size());
    if (place > 0) lines.space();
    lines.add(text.substr(place, space - place));
    place = space + 1;
  }
  // Removes spaces at the ends of lines.
  std::string result;
  for (const char letter : lines.text) {
    if (letter == '\n') result.erase(result.find_last_not_of(' ') + 1);
    result += letter;
  }
  return result;
}

void say(std::ostream& out, std::string_view text, std::size_t indent, std::size_t hanging,
         std::size_t width) {
  out << std::string(indent, ' ') << wrapped(printable(text), width, indent + hanging, indent)
      << '\n';
}

std::string wrapped_command(std::string_view command, std::size_t width, std::size_t indent,
                            std::size_t used) {
  constexpr std::string_view kGoesOn = " \\";
  const std::vector<std::string_view> words = words_as_written(command);
  std::string result;
  std::size_t column = used;
  for (std::size_t i = 0; i < words.size(); ++i) {
    // A flag and its value stay on one line.
    const bool has_value =
        words[i].starts_with("-") && i + 1 < words.size() && !words[i + 1].starts_with("-");
    const std::size_t last = has_value ? i + 1 : i;
    std::size_t length = utf8_length(words[i]);
    if (has_value) length += 1 + utf8_length(words[last]);
    const std::size_t room = last + 1 < words.size() ? kGoesOn.size() : 0;
    if (i > 0 && column > indent && column + 1 + length + room > width) {
      result.append(kGoesOn).append("\n").append(indent, ' ');
      column = indent;
    } else if (i > 0) {
      result += ' ';
      ++column;
    }
    result += words[i];
    column += utf8_length(words[i]);
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t length = utf8_length(text);
  if (length <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(text.substr(0, place_of(text, width)));
  const std::size_t kept = width - kCut.size(), end = kept / 2;
  std::string result(text.substr(0, place_of(text, kept - end)));
  return result.append(kCut).append(text.substr(place_of(text, length - end)));
}

std::string excerpt(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest / 2, begin = text.size() - longest / 2;
  while (end > 0 && continues_utf8(text[end])) --end;
  while (begin < text.size() && continues_utf8(text[begin])) ++begin;
  return fmt::format("{} ... {} more bytes ... {}", text.substr(0, end), begin - end,
                     text.substr(begin));
}

}  // namespace opbench
