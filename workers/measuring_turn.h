#pragma once

#include <functional>
#include <string>

namespace opbench {

/// Turns of processes on one machine: while a process measures, the others neither measure nor
/// compute. System locks hold the turns, so a dying process releases them.
class MeasuringTurns {
 public:
  /// Processes with the same file take turns. The file is created if missing, and stays. Errors:
  /// throws RunError "cannot write ...: reason". `waits` is called with true before each wait for a
  /// turn, and with false after it.
  explicit MeasuringTurns(const std::string& file, std::function<void(bool)> waits = {});
  ~MeasuringTurns();
  MeasuringTurns(const MeasuringTurns&) = delete;
  MeasuringTurns& operator=(const MeasuringTurns&) = delete;

  /// Waits until no other process measures or computes.
  void begin_measuring() const { begin(true); }
  void begin_computing() const { begin(false); }
  void end() const;

 private:
  void begin(bool is_alone) const;

  std::function<void(bool)> waits_;
  int gate_ = -1, turn_ = -1;
};

/// A turn to compute, in which turns to measure are possible; does nothing without `turns`.
class ComputingTurn {
 public:
  explicit ComputingTurn(const MeasuringTurns* turns) : turns_(turns) {
    if (turns_ != nullptr) turns_->begin_computing();
  }
  ComputingTurn(const ComputingTurn&) = delete;
  ComputingTurn& operator=(const ComputingTurn&) = delete;
  ~ComputingTurn() {
    if (turns_ != nullptr) turns_->end();
  }

 private:
  const MeasuringTurns* turns_;
};

/// Suspends the turn to compute for a turn to measure, and resumes it at the end.
class MeasuringTurn {
 public:
  explicit MeasuringTurn(const MeasuringTurns* turns) : turns_(turns) {
    if (turns_ != nullptr) turns_->begin_measuring();
  }
  MeasuringTurn(const MeasuringTurn&) = delete;
  MeasuringTurn& operator=(const MeasuringTurn&) = delete;
  ~MeasuringTurn() {
    if (turns_ != nullptr) turns_->begin_computing();
  }

 private:
  const MeasuringTurns* turns_;
};

/// Path of the file for a user's turns on this machine.
std::string measuring_turns_file();

}  // namespace opbench
