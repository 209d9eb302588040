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

/// What was compared, for the head of the reports.
struct JobOrigin {
  std::string command, version, revision, date;
  std::string actual, expected;  ///< folders
  std::string standard;
  std::vector<std::pair<std::string, std::string>> options;  ///< as typed
};

/// For people, in 80 columns: who departs first, replicas that split, the worst `top` dumps, what
/// could not be compared; last the counts, in one line.
void print_job(std::ostream& out, const JobReport& job, const JobOrigin& origin, std::size_t top,
               const ConsoleStyle& style);

/// {"opbench_job": 1, "command", "version", "revision", "date", "actual", "expected", "standard",
/// "options", "partial", "verdict", "counts", "first_departure", "replicas": {"checked", "split"},
/// "only_actual", "only_expected", "ranks": [one object for each dump]}.
void write_job_json(std::ostream& out, const JobReport& job, const JobOrigin& origin);

/// RFC 4180 with a line per dump: step, rank, counts, where it departs.
void write_job_csv(std::ostream& out, const JobReport& job);

/// Version of compare.json's format. Readers refuse others.
inline constexpr int kComparisonVersion = 2;

/// For people, in 80 columns: what is wrong, where it starts, whether it was made there, how wrong
/// it is; the worst `top` operators, those that amplify errors most, what was not compared and why;
/// last the counts, in one line. `comparison` has been analysed.
void print_comparison(std::ostream& out, const Comparison& comparison, std::size_t top,
                      const ConsoleStyle& style);

/// Everything: {"opbench_compare": 2, "command", "version", "revision", "date", "files",
/// "standard", "options", "partial", "load_mode", "verdict", "counts", "explained",
/// "first_introduced", "first_departure", "operators": [flat objects], "tensors": [flat objects
/// with the columns of write_comparison_csv]}. Absent values and those that are no finite numbers
/// are null; an infinite amplification is too.
void write_comparison_json(std::ostream& out, const Comparison& comparison);

/// RFC 4180 with a line per tensor, in order of execution. Text that a spreadsheet would take for a
/// formula (it begins with = + - @, a tab or a carriage return) has an apostrophe before it; the
/// JSON has it as it is. Absent values are empty.
void write_comparison_csv(std::ostream& out, const Comparison& comparison);

}  // namespace opbench::report
