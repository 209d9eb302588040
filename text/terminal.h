#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opbench {

/// False where the environment names a character set that is not UTF-8 (LC_ALL, else LC_CTYPE, else
/// LANG).
bool takes_unicode();

struct ConsoleStyle {
  bool colour = false;
  std::size_t width = 80;  ///< columns that a line may fill
};

inline constexpr std::string_view kBold = "\033[1m", kDim = "\033[2m", kGreen = "\033[32m",
                                  kRed = "\033[31m", kYellow = "\033[33m";

/// `text` in a colour if the style has any.
inline std::string coloured(std::string_view text, std::string_view code,
                            const ConsoleStyle& style) {
  return style.colour ? std::string(code).append(text).append("\033[0m") : std::string(text);
}

}  // namespace opbench
