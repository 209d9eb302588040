#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "harness/run/record.h"
#include "text/program.h"

namespace opbench {

/// Adds the time until its destruction to a phase, in seconds.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& seconds) : seconds_(seconds) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

/// Times of the phases of a run, in seconds. The rest of `total` is the harness itself.
struct PhaseTimes {
  double total = 0, allocate = 0, fill = 0, verify = 0, measure = 0, dump = 0;

  double overhead() const { return total - allocate - fill - verify - measure - dump; }
};

/// All results of a run.
struct RunResult {
  std::vector<Record> records;
  PhaseTimes times;
  std::size_t cases_run = 0;
  std::size_t largest_case_bytes = 0;  ///< inputs, outputs and intermediates of one case
  bool was_interrupted = false;
  double load = 0;  ///< average of the last minute when it began; not in files

  /// 1 if a verdict failed, 3 if something could not finish, 4 if nothing could be judged, else 0.
  ExitCode exit_code() const;
  /// Reason of exit code 3 or 4, with the first result that causes it; also says if the run was
  /// interrupted. Else empty.
  std::string reason_text() const;
};

}  // namespace opbench
