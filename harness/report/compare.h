#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "compare/job_report.h"
#include "harness/report/report.h"
#include "text/fitted.h"

namespace opbench::report {

/// Version of summary.json's format.
inline constexpr int kJobVersion = 1;

/// The inputs of a comparison, for the head of the reports.
struct JobOrigin {
  std::string command, version, revision, date;
  std::string actual, expected;  ///< folders
  std::string standard;
  std::vector<std::pair<std::string, std::string>> options;  ///< as typed
};

/// Prints a job report in 80 columns: the first departure, replicas that differ, the worst `top`
/// dumps, and dumps that could not be compared. The last line has the counts.
void print_job(std::ostream& out, const JobReport& job, const JobOrigin& origin, std::size_t top,
               const ConsoleStyle& style);

/// {"opbench_job": 1, "command", "version", "revision", "date", "actual", "expected", "standard",
/// "options", "partial", "verdict", "counts", "first_departure", "replicas": {"checked", "split"},
/// "only_actual", "only_expected", "ranks": [one object for each dump]}.
void write_job_json(std::ostream& out, const JobReport& job, const JobOrigin& origin);

/// RFC 4180, a line for each dump: step, rank, counts, place of the departure.
void write_job_csv(std::ostream& out, const JobReport& job);

/// Version of compare.json's format. Readers refuse other versions.
inline constexpr int kComparisonVersion = 2;

/// Prints a report in 80 columns: the verdict, the first error and its origin and size, the worst
/// `top` operators, operators that amplify errors most, tensors that were not compared and the
/// reasons. The last line has the counts. `comparison` must be analysed.
void print_comparison(std::ostream& out, const Comparison& comparison, std::size_t top,
                      const ConsoleStyle& style);

/// All results: {"opbench_compare": 2, "command", "version", "revision", "date", "files",
/// "standard", "options", "partial", "load_mode", "verdict", "counts", "explained",
/// "first_introduced", "first_departure", "operators": [flat objects], "tensors": [flat objects
/// with the columns of write_comparison_csv]}. Absent and non-finite values are null; so is an
/// infinite amplification.
void write_comparison_json(std::ostream& out, const Comparison& comparison);

/// RFC 4180, a line for each tensor, in order of execution. Text that a spreadsheet would take for
/// a formula (it begins with = + - @, a tab or a carriage return) has an apostrophe before it; the
/// JSON has the unchanged text. Absent values are empty.
void write_comparison_csv(std::ostream& out, const Comparison& comparison);

}  // namespace opbench::report
