#include "harness/report/sparkline.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace opbench {
namespace {

constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiBars = {".", ":", "-", "=", "+", "*", "#", "@"};

}  // namespace

std::string sparkline(std::span<const std::int64_t> counts, bool is_unicode) {
  const auto& bars = is_unicode ? kBars : kAsciiBars;
  const auto steps = static_cast<double>(bars.size());
  std::int64_t most = 0;
  for (const std::int64_t count : counts) most = std::max(most, count);
  std::string line;
  for (const std::int64_t count : counts) {
    // From 1, so that a single value among millions is seen.
    const double height = static_cast<double>(count) / static_cast<double>(most) * steps;
    const auto step = std::min(static_cast<std::size_t>(height), bars.size() - 1);
    line += count == 0 ? std::string_view(" ") : bars[step];
  }
  return line;
}

}  // namespace opbench
