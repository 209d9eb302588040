#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "profiles/ingest.h"
#include "profiles/profiled_case.h"
#include "profiles/report_lines.h"

namespace opbench {

/// A case of a network, with its count and time in the network.
struct NetworkCase {
  Case spec;  ///< with name, count and weight
  bool are_attrs_known = true;
  std::vector<std::string> notes;
  std::string first_name;  ///< name of the first task; empty in logs
  SourceRow first;
};

/// Operators of one type that cannot be cases, for one reason.
struct UncoveredType {
  std::string type, reason;
  std::int64_t count = 0, total_ps = 0;
  SourceRow first;
};

/// Cases of a profile or log. Times are 0 if only logs were read.
struct NetworkCases {
  std::vector<NetworkCase> cases;        ///< sorted by time, then by count, the largest first
  std::vector<UncoveredType> uncovered;  ///< sorted likewise
  std::vector<UncoveredType> dropped;    ///< excluded on purpose: random numbers, MemSet
  bool is_timed = false;
  std::int64_t whole_ps = 0, covered_ps = 0;
  std::int64_t whole_calls = 0, covered_calls = 0;

  /// The covered share of the device time; without times, of the calls; 0 to 1.
  double covered_share() const;
};

/// Cases for the operators of tables. Logs of the same network give attributes, for calls of equal
/// type, shapes and dtypes. Without tables, cases for the calls of the logs. Neither includes
/// communication.
NetworkCases cases_of(const IngestResult& profile);

/// The reason why no operator became a case.
std::string why_no_cases(const NetworkCases& cases);

/// Prints operators that became cases, and the others.
void print_network_cases(std::ostream& out, const NetworkCases& cases, const ReportLayout& layout);

/// Writes a case file (docs/case-files.md) for `opbench run --cases`. Its comments list unknown
/// properties. `sources`: the files with the operators.
void write_case_file(std::ostream& out, const NetworkCases& cases,
                     const std::vector<IngestedFile>& sources);

}  // namespace opbench
