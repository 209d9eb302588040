#pragma once

#include <string>
#include <vector>

#include "harness/check/check.h"
#include "harness/run/machine.h"
#include "text/output_file.h"

namespace opbench::check {

/// One variant of one case in one run of a history.
struct PastItem {
  std::string key, name, variant;  ///< the key leaves out attributes at their defaults
  int threads = 1;
  bool is_cold = false, is_first_call = false;
  std::string verdict;  ///< "SLOWER", ...
  bool is_waived = false;
  double base_us = 0, current_us = 0;  ///< 0: not timed
};

/// One run of `opbench check`: a line of a history.
struct PastRun {
  std::string date;  ///< ISO 8601, UTC
  /// Properties that must be equal for times to be comparable, in one line.
  std::string machine;
  std::string base, current;  ///< revisions
  std::vector<PastItem> items;
};

struct History {
  std::vector<PastRun> runs;         ///< in the order of their dates
  std::vector<std::string> notices;  ///< unreadable lines: "file:line: ..."
};

/// A history file to which a run appends one line. It is opened or created before the run.
/// Errors: throws RunError "cannot write history ...: reason".
class HistoryFile {
 public:
  explicit HistoryFile(const std::string& path);

  /// Appends one line under a lock, so that runs that end at the same time lose nothing. An
  /// unfinished line of a killed run is ended first. If the line cannot be written as a whole, it
  /// is removed.
  void append(const std::string& line) const;

 private:
  LineFile file_;
};

/// Line of a run, with its line end: {"opbench_history": 1, ...}.
std::string history_line(const CheckReport& report, const Machine& machine);

/// Reads a history. A line that is not JSON was left by a killed run; it is skipped with a notice.
/// Errors: throws Error "file:line: place: ..." for other lines that are not runs; Error if the
/// file cannot be read.
History read_history(const std::string& path);
History parse_history(const std::string& text, const std::string& path);

}  // namespace opbench::check
