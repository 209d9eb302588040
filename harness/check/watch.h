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
  SpeedRule rule;        ///< of paired times; see `unpaired`
  bool is_gate = false;  ///< SLOWER fails the check; else it is only reported
  bool allow_other_machine = false;
};

/// Compares the results of two runs. The times of the later run are first corrected for the common
/// change: the median change of the copy rates and of the times of `native`. SLOWER and FASTER need
/// both the doubled threshold and a 99% interval (from the spread of the samples) without 0. Lost
/// verdicts, grown errors and GONE items are regressions like in the gate. On different machines
/// times are INCOMPARABLE unless that is allowed.
CheckReport run_watch(const ResultsFile& baseline, const ResultsFile& current,
                      const WatchOptions& options);

/// Key of results that `run_watch` compares: case, variant, number of threads, and cold or not.
using ResultKey = std::tuple<std::string, std::string, int, bool>;
ResultKey key_of(const Record& record);

/// Key of the case as in the gate: an operator that has a new attribute is the same operator while
/// the attribute has its default. A context, or an id that this build cannot read, is its own key.
std::string case_key_of(const Record& record);

/// Differences of two machines that affect times: "cpu A, now B"; empty: no difference.
std::vector<std::string> machine_differences(const Machine& before, const Machine& now);

/// Numbers of differing results of two runs.
struct RunDifferences {
  std::size_t pairs = 0;               ///< results that both have
  std::size_t worse = 0;               ///< regressions independent of their times
  std::size_t slower = 0, faster = 0;  ///< verdicts of `run_watch` on comparable times
  std::size_t only_first = 0, only_second = 0;
};

/// Relative error of the recorded outputs of a result in the first run against those in the second;
/// none: not compared.
using OutputError = std::function<std::optional<double>(const Record& record)>;

/// Prints a table of two runs, the first against the second as its baseline. Each result has both
/// verdicts, errors in ULP, the distance of the recorded outputs, times and their ratio. Differing
/// results come first; without `all` only these are printed.
RunDifferences compare_runs(std::ostream& out, const ResultsFile& first, const ResultsFile& second,
                            const OutputError& output_error, bool all, const ConsoleStyle& style);

}  // namespace opbench::check
