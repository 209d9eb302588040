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

/// One run of `opbench check`, as a line of a history has it.
struct PastRun {
  std::string date;           ///< ISO 8601, UTC
  std::string machine;        ///< what must be the same for times to be compared, in one line
  std::string base, current;  ///< revisions
  std::vector<PastItem> items;
};

struct History {
  std::vector<PastRun> runs;         ///< in the order of their dates
  std::vector<std::string> notices;  ///< lines that are none, "file:line: ..."
};

/// A history that one line is appended to after a run. It is opened, and made where there is none,
/// before the run. Errors: throws RunError "cannot write history ...: reason".
class HistoryFile {
 public:
  explicit HistoryFile(const std::string& path);

  /// Appends one line under a lock, so that runs that end at once lose nothing. A line that a
  /// killed run left unfinished is ended first; one that cannot be written whole is taken back.
  void append(const std::string& line) const;

 private:
  LineFile file_;
};

/// The line of a run, with its end: {"opbench_history": 1, ...}.
std::string history_line(const CheckReport& report, const Machine& machine);

/// Reads what was appended. A line that is no JSON, as a killed run leaves it, is left out with a
/// notice. Errors: throws Error "file:line: place: ..." for other lines that are no runs; Error if
/// the file cannot be read.
History read_history(const std::string& path);
History parse_history(const std::string& text, const std::string& path);

}  // namespace opbench::check
