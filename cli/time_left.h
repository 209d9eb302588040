#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace opbench {

/// "62 min", "3.5 h", "12 s".
std::string duration_text(double seconds);

/// How long a run still takes, from what its first cases took and what all were expected to take.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  /// `expected`: of each case in the order in which they run, in any unit.
  explicit TimeLeft(std::vector<double> expected);

  /// ", about 6 min left" after the first `done` cases; nothing before the second one has ended and
  /// 2 s have passed: one case says little.
  std::string text(std::size_t done, Clock::time_point now = Clock::now()) const;

 private:
  std::vector<double> expected_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace opbench
