#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "harness/check/history.h"

namespace opbench::check {

/// A change point of a case's times.
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
  /// Number of runs with SLOWER or FASTER without a change point there or one run before or after,
  /// and of runs with ERROR. The last four runs do not count, because they are too few for a change
  /// point.
  int flips = 0;
};

/// Trends of a history. Times of different machines are in separate series. They are ordered by the
/// machines' first runs, and then by case.
std::vector<Trend> trends_of(const History& history);

/// Writes Markdown: notices, and for each machine the changes, flaky cases and all trends.
void write_trends(std::ostream& out, const History& history);

}  // namespace opbench::check
