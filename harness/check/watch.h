#pragma once

#include <string>

#include "harness/check/check.h"
#include "harness/run/results_file.h"

namespace opbench::check {

struct WatchOptions {
  SpeedRule rule;        ///< of times in turn; see `unpaired`
  bool is_gate = false;  ///< SLOWER fails; else it is shown and nothing more
  bool allow_other_machine = false;
};

/// Compares the results of two runs. The times of the later one are first freed of what changed for
/// all of them: the median change of the copy rates and of the times of `native`. SLOWER and FASTER
/// need both the doubled threshold and a 99% interval (from the spread of the samples) without 0.
/// Lost verdicts, grown errors and what is gone are regressions as in the gate. On machines that
/// differ times are INCOMPARABLE unless that is allowed.
CheckReport run_watch(const ResultsFile& baseline, const ResultsFile& current,
                      const WatchOptions& options);

/// The case as the gate knows it: an operator that gained an attribute since is the same one while
/// the attribute is at its default. What this build cannot read, and a context, keep their ids.
std::string case_key_of(const Record& record);

}  // namespace opbench::check
