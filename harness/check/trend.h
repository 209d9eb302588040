#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "harness/check/history.h"

namespace opbench::check {

/// Where the times of a case changed.
struct TimeStep {
  std::string date, revision;  ///< of the first run with the new times
  double change = 0;           ///< of the segments' medians: 0.05: 5% slower
};

/// One variant of one case on one machine, over its last runs.
struct Trend {
  std::string machine;
  PastItem item;                      ///< of the last run
  std::vector<std::string> verdicts;  ///< of all runs, waived ones as "waived"
  std::size_t timed = 0;              ///< runs with a time
  double first_us = 0, last_us = 0;   ///< medians of the first and the last segment
  std::vector<TimeStep> steps;
  /// Runs with SLOWER or FASTER where the times do not change, neither there nor one run before or
  /// after, and runs with ERROR. The last four, too few for a change point, do not count.
  int flips = 0;
};

/// Times of unlike machines are never in one series. In the order of the machines' first runs, and
/// there of the cases.
std::vector<Trend> trends_of(const History& history);

/// Markdown: notices, and for each machine what changed, what is flaky and all trends.
void write_trends(std::ostream& out, const History& history);

}  // namespace opbench::check
