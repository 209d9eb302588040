#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "harness/run/results_file.h"
#include "text/fitted.h"

namespace opbench::report {

/// What two runs come to, result by result.
struct RunDifferences {
  std::size_t pairs = 0;               ///< results that both have
  std::size_t worse = 0;               ///< verdicts that were lost, and errors that grew
  std::size_t slower = 0, faster = 0;  ///< beyond noise
  std::size_t only_first = 0, only_second = 0;
};

/// The relative error of the recorded outputs of a result in the first run against those in the
/// second; none where they were not compared.
using OutputError = std::function<std::optional<double>(const Record& record)>;

/// A table of two runs, the first against the second: of every result both verdicts, errors in
/// units in the last place, how far recorded outputs are apart, times and their ratio; those that
/// differ first, without `all` those alone.
///
/// An error grew beyond 1.5 times the old one plus 1 ULP; a verdict was lost from passed to failed
/// or errored. A time differs where the medians are apart by more than 5 % and by more than three
/// times the median absolute deviations of both together; of different machines none does.
RunDifferences compare_runs(std::ostream& out, const ResultsFile& first, const ResultsFile& second,
                            const OutputError& output_error, bool all, const ConsoleStyle& style);

}  // namespace opbench::report
