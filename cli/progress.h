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

/// The line on the terminal that tells what is being done; plain lines, one a part, elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(const CommandContext& context) : context_(context) {}

  /// Begins part `done` + 1 of `total`; `time_left`: ", about 6 min left".
  void begin(std::size_t done, std::size_t total, const std::string& time_left = "");
  /// Begins a part that is called `place`.
  void begin(const std::string& place);
  /// Shows what the part does now: a line that is overwritten shows every activity, plain lines
  /// the first of a part, or `brief` in its place.
  void activity(const std::string& whole, const std::string& brief = "");
  /// Only where the line is overwritten.
  void detail(const std::string& whole);
  void clear();

 private:
  const CommandContext& context_;
  std::string place_;
  bool is_new_ = false;
};

/// The line of work in units, cases of a run or dumps of a job: how many of the whole are done, how
/// many a second, the time left by their expected cost, and the slowest.
class UnitsProgress {
 public:
  UnitsProgress(const std::vector<units::UnitCost>& all, ProgressLine& line)
      : units_(all), line_(line) {}

  /// `todo` are to be run, and so many more are done already.
  void begin(const std::vector<std::size_t>& todo, std::size_t done);
  void begin_unit(std::size_t unit);
  void end_unit(std::size_t unit, double seconds);

  /// Shows the progress of all ranks in one line: often where it is overwritten, else sometimes.
  void show(const DispatchState& state, std::size_t slowest);

  /// "312/20000 5.1/s 62 min left, slowest conv2d[...] 12 s"; `at`: the first number.
  std::string text(std::size_t at) const;

 private:
  using Clock = std::chrono::steady_clock;

  const std::vector<units::UnitCost>& units_;
  ProgressLine& line_;
  Clock::time_point start_ = Clock::now();
  std::size_t done_ = 0, total_ = 0, ran_ = 0;
  double expected_ = 0, expected_done_ = 0;  // seconds of what is run here
  std::size_t slowest_ = 0;
  double slowest_seconds_ = 0;
  Clock::time_point shown_ = start_;
};

/// "4 ranks, efficiency 97 %: 62 s of units / (4 ranks x 16 s)".
std::string efficiency_text(const Ranks& ranks);

}  // namespace opbench
