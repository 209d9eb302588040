#pragma once

#include <cstddef>
#include <string>

namespace opbench {

inline constexpr int kMostParts = 1'000'000;

/// One of several parts of the work, from 1.
struct Part {
  int index = 1, count = 1;

  bool operator==(const Part&) const = default;
  bool is_whole() const { return count == 1; }
  /// Whether every count-th from the index-th includes what is at `place`, from 0.
  bool takes(std::size_t place) const {
    return place % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
};

/// "3/8". Errors: throws Error that shows the text and what is allowed.
Part parse_part(const std::string& text);
std::string to_string(const Part& part);

}  // namespace opbench
