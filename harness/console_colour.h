#pragma once

#include <string>
#include <string_view>

#include "harness/report.h"

namespace opbench {

inline constexpr std::string_view kBold = "\033[1m", kDim = "\033[2m", kGreen = "\033[32m",
                                  kRed = "\033[31m", kYellow = "\033[33m";

/// `text` in a colour if the style has any.
inline std::string coloured(std::string_view text, std::string_view code,
                            const ConsoleStyle& style) {
  return style.colour ? std::string(code).append(text).append("\033[0m") : std::string(text);
}

/// What a verdict is printed in.
inline std::string_view status_colour(Status status) {
  switch (status) {
    case Status::passed:
      return kGreen;
    case Status::failed:
    case Status::errored:
      return kRed;
    case Status::mistrusted:
    case Status::suspicious:
      return kYellow;
    default:
      return kDim;
  }
}

}  // namespace opbench
