#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "harness/report/report.h"
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

/// Version of compare.json's format. Readers refuse others.
inline constexpr int kComparisonVersion = 1;

/// For people, in 80 columns: what is wrong, where it starts, whether it was made there, how wrong
/// it is; the worst `top` operators, those that amplify errors most, what was not compared and why;
/// last the counts, in one line. `comparison` has been analysed.
void print_comparison(std::ostream& out, const Comparison& comparison, std::size_t top,
                      const ConsoleStyle& style);

/// Everything: {"opbench_compare": 1, "command", "version", "revision", "date", "files",
/// "standard", "options", "partial", "load_mode", "verdict", "counts", "first_departure",
/// "operators": [flat objects], "tensors": [flat objects with the columns of
/// write_comparison_csv]}. Absent values and those that are no finite numbers are null; an infinite
/// amplification is too.
void write_comparison_json(std::ostream& out, const Comparison& comparison);

/// RFC 4180 with a line per tensor, in order of execution. Text that a spreadsheet would take for a
/// formula (it begins with = + - @, a tab or a carriage return) has an apostrophe before it; the
/// JSON has it as it is. Absent values are empty.
void write_comparison_csv(std::ostream& out, const Comparison& comparison);

}  // namespace opbench::report
