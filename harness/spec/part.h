#pragma once

#include <string>

namespace opbench::units {

inline constexpr int kMostParts = 1'000'000;

/// One of several parts of a plan, from 1.
struct Part {
  int index = 1, count = 1;

  bool operator==(const Part&) const = default;
  bool is_whole() const { return count == 1; }
};

/// "3/8". Errors: throws Error that shows the text and what is allowed.
Part parse_part(const std::string& text);
std::string to_string(const Part& part);

}  // namespace opbench::units
