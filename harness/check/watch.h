#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/check/check.h"
#include "harness/run/results_file.h"
#include "text/fitted.h"

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

/// The results that `run_watch` compares with each other: of one case, variant, number of threads,
/// and cold or not.
using ResultKey = std::tuple<std::string, std::string, int, bool>;
ResultKey key_of(const Record& record);

/// The case as the gate knows it: an operator that gained an attribute since is the same one while
/// the attribute is at its default. What this build cannot read, and a context, keep their ids.
std::string case_key_of(const Record& record);

/// What differs between two machines in ways that times depend on: "cpu A, now B"; empty: nothing.
std::vector<std::string> machine_differences(const Machine& before, const Machine& now);

/// How many results of two runs differ, and how.
struct RunDifferences {
  std::size_t pairs = 0;               ///< results that both have
  std::size_t worse = 0;               ///< that are a regression whatever their times
  std::size_t slower = 0, faster = 0;  ///< as `run_watch` says, of times that are comparable
  std::size_t only_first = 0, only_second = 0;
};

/// The relative error of the recorded outputs of a result in the first run against those in the
/// second; none where they were not compared.
using OutputError = std::function<std::optional<double>(const Record& record)>;

/// A table of two runs, the first against the second as its baseline: of every result both
/// verdicts, errors in units in the last place, how far recorded outputs are apart, times and their
/// ratio; those that differ first, without `all` those alone.
RunDifferences compare_runs(std::ostream& out, const ResultsFile& first, const ResultsFile& second,
                            const OutputError& output_error, bool all, const ConsoleStyle& style);

}  // namespace opbench::check
