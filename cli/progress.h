#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/command.h"

namespace opbench {
namespace units {
struct UnitCost;
}
struct DispatchState;

/// "62 min", "3.5 h", "12 s".
std::string duration_text(double seconds);

/// Estimates the time left from the measured time of the first cases and the expected cost of all.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  /// `expected`: cost of each case in the order in which they run, in any unit.
  explicit TimeLeft(std::vector<double> expected);

  /// ", about 6 min left" after the first `done` cases; empty before the second case has ended and
  /// 2 s have passed, since one case is not enough for an estimate.
  std::string text(std::size_t done, Clock::time_point now = Clock::now()) const;

 private:
  std::vector<double> expected_;
  Clock::time_point start_ = Clock::now();
};

/// The progress line on the terminal; without a terminal, plain lines, one for each part.
class ProgressLine {
 public:
  explicit ProgressLine(const CommandContext& context) : context_(context) {}

  /// Begins part `done` + 1 of `total`; `time_left`: ", about 6 min left".
  void begin(std::size_t done, std::size_t total, const std::string& time_left = "");
  /// Begins a part with the name `place`.
  void begin(const std::string& place);
  /// Prints the activity of the part. A line that is overwritten shows every activity. Plain lines
  /// show only the first of a part, or `brief` instead.
  void activity(const std::string& whole, const std::string& brief = "");
  /// Only if the line is overwritten.
  void detail(const std::string& whole);
  void clear();

 private:
  const CommandContext& context_;
  std::string place_;
  bool is_new_ = false;
};

/// The progress line of work units, cases of a run or dumps of a job: finished and total number,
/// number per second, time left by expected cost, and the slowest unit.
class UnitsProgress {
 public:
  UnitsProgress(const std::vector<units::UnitCost>& all, ProgressLine& line)
      : units_(all), line_(line) {}

  /// `todo`: units to run, in addition to those that are done already.
  void begin(const std::vector<std::size_t>& todo, std::size_t done);
  void begin_unit(std::size_t unit);
  void end_unit(std::size_t unit, double seconds);

  /// Shows the progress of all ranks in one line: often if it is overwritten, else rarely.
  void show(const DispatchState& state, std::size_t slowest);

  /// "312/20000 5.1/s 62 min left, slowest conv2d[...] 12 s"; `at`: the first number.
  std::string text(std::size_t at) const;

 private:
  using Clock = std::chrono::steady_clock;

  const std::vector<units::UnitCost>& units_;
  ProgressLine& line_;
  Clock::time_point start_ = Clock::now();
  std::size_t done_ = 0, total_ = 0, ran_ = 0;
  double expected_ = 0, expected_done_ = 0;  // seconds of the units of this run
  std::size_t slowest_ = 0;
  double slowest_seconds_ = 0;
  Clock::time_point shown_ = start_;
};

/// "4 ranks, efficiency 97 %: 62 s of units / (4 ranks x 16 s)".
std::string efficiency_text(const Ranks& ranks);

}  // namespace opbench
