#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "compare/job_report.h"
#include "harness/report/report.h"

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

}  // namespace opbench::report
