#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace opbench {

/// Counts as a row of bars, one column each, the tallest for the largest; a blank for none.
/// In ASCII where `is_unicode` is false.
std::string sparkline(std::span<const std::int64_t> counts, bool is_unicode = true);

/// A number of bytes with four digits in the unit that suits it: "48 KiB", "5.859 GiB", "12 TiB".
std::string byte_size_text(double bytes);

/// False where the environment names a character set that is not UTF-8 (LC_ALL, else LC_CTYPE, else
/// LANG).
bool takes_unicode();

struct ConsoleStyle {
  bool colour = false;
  std::size_t width = 80;  ///< columns that a line may fill
};

inline constexpr std::string_view kBold = "\033[1m", kDim = "\033[2m", kGreen = "\033[32m",
                                  kRed = "\033[31m", kYellow = "\033[33m";

/// `text` in a colour, "" for none, if the style has any.
inline std::string coloured(std::string_view text, std::string_view code,
                            const ConsoleStyle& style) {
  return style.colour && !code.empty() ? std::string(code).append(text).append("\033[0m")
                                       : std::string(text);
}

/// Lines of at most `width` columns, broken at spaces, long words where they must be. Lines but the
/// first begin with `indent` spaces; the first is taken to begin after `used` columns.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent,
                    std::size_t used = 0);

/// A command for a shell in lines of at most `width` columns where its words allow it: each line
/// but the last ends in a backslash. Words in single quotes stay whole.
std::string wrapped_command(std::string_view command, std::size_t width, std::size_t indent,
                            std::size_t used = 0);

/// "1 thread", "2 threads".
std::string counted(std::integral auto count, std::string_view what) {
  return std::to_string(count).append(" ").append(what).append(count == 1 ? "" : "s");
}

/// `text` in at most `width` columns: what is longer is cut in the middle, "hcom_allR..586_0_1", so
/// that names with equal beginnings stay apart.
std::string shortened(std::string_view text, std::size_t width);

/// `text` for a message: what is longer than `longest` bytes is cut in the middle, between
/// letters, and says so; both ends stay, since a message names the place first and the reason last.
std::string excerpt(std::string_view text, std::size_t longest);

}  // namespace opbench
