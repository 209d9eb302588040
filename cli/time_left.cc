#include "cli/time_left.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

namespace opbench {

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 120 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

TimeLeft::TimeLeft(std::vector<double> expected) : expected_(std::move(expected)) {}

std::string TimeLeft::text(std::size_t done, Clock::time_point now) const {
  constexpr std::size_t kFewest = 2;
  constexpr double kLeastSeconds = 2;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (done < kFewest || done > expected_.size() || seconds < kLeastSeconds) return {};
  const auto here = expected_.begin() + static_cast<std::ptrdiff_t>(done);
  const double past = std::accumulate(expected_.begin(), here, 0.0);
  const double rest = std::accumulate(here, expected_.end(), 0.0);
  if (!(past > 0)) return {};
  return fmt::format(", about {} left", duration_text(std::ceil(seconds * rest / past)));
}

}  // namespace opbench
