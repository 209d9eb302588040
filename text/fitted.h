#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace opbench {

/// Draws counts as a row of bars, one column each. The largest count has the tallest bar, zero is a
/// blank. Uses ASCII if `is_unicode` is false.
std::string sparkline(std::span<const std::int64_t> counts, bool is_unicode = true);

/// Formats a number of bytes with four digits and a suitable unit: "48 KiB", "5.859 GiB", "12 TiB".
std::string byte_size_text(double bytes);

/// False if the environment (LC_ALL, else LC_CTYPE, else LANG) names a character set other than
/// UTF-8.
bool takes_unicode();

struct ConsoleStyle {
  bool colour = false;
  std::size_t width = 80;  ///< columns of a line
};

inline constexpr std::string_view kBold = "\033[1m", kDim = "\033[2m", kGreen = "\033[32m",
                                  kRed = "\033[31m", kYellow = "\033[33m";

/// Returns `text` in a colour, "" for no colour, if the style has colours.
inline std::string coloured(std::string_view text, std::string_view code,
                            const ConsoleStyle& style) {
  return style.colour && !code.empty() ? std::string(code).append(text).append("\033[0m")
                                       : std::string(text);
}

/// Wraps a text to lines of at most `width` columns at spaces; words are split only if necessary.
/// Later lines begin with `indent` spaces. The first line begins after `used` columns.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent,
                    std::size_t used = 0);

/// Prints text, made printable, in lines of at most `width` columns after `indent` blanks, lines
/// but the first after `hanging` more.
void say(std::ostream& out, std::string_view text, std::size_t indent = 2, std::size_t hanging = 0,
         std::size_t width = ConsoleStyle().width);

/// Wraps a shell command to lines of at most `width` columns, if its words are short enough. Each
/// line but the last ends in a backslash. Words in single quotes are not split.
std::string wrapped_command(std::string_view command, std::size_t width, std::size_t indent,
                            std::size_t used = 0);

/// Returns "1 thread", "2 threads".
std::string counted(std::integral auto count, std::string_view what) {
  return std::to_string(count).append(" ").append(what).append(count == 1 ? "" : "s");
}

/// Shortens `text` to `width` columns by cutting its middle, "hcom_allR..586_0_1", so that names
/// with equal beginnings stay distinguishable.
std::string shortened(std::string_view text, std::size_t width);

/// Shortens `text` for a message to `longest` bytes by cutting its middle, between letters, with a
/// note. Both ends stay, because a message begins with the place and ends with the reason.
std::string excerpt(std::string_view text, std::size_t longest);

}  // namespace opbench
