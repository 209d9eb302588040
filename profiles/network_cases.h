#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "profiles/ingest.h"
#include "profiles/profiled_case.h"
#include "profiles/report_lines.h"

namespace opbench {

/// A case of a network, and how much of it the network has.
struct NetworkCase {
  Case spec;  ///< with name, count and weight
  bool are_attrs_known = true;
  std::vector<std::string> notes;
  std::string first_name;  ///< of the first task; empty in logs
  SourceRow first;
};

/// Operators of one type that are no cases, for one reason.
struct UncoveredType {
  std::string type, reason;
  std::int64_t count = 0, total_ps = 0;
  SourceRow first;
};

/// What a profile or a log holds as cases of ours. Times are 0 where only logs were read.
struct NetworkCases {
  std::vector<NetworkCase> cases;        ///< by time, then by count, the most first
  std::vector<UncoveredType> uncovered;  ///< likewise
  std::vector<UncoveredType> dropped;    ///< what is meant to be no case: random numbers, MemSet
  bool is_timed = false;
  std::int64_t whole_ps = 0, covered_ps = 0;
  std::int64_t whole_calls = 0, covered_calls = 0;

  /// Of the device time, or of the calls where there are no times; 0 to 1.
  double covered_share() const;
};

/// Cases of the operators of tables, with attributes from logs of the same network where type,
/// shapes and dtypes are equal; where there are no tables, of the logs' calls. Communication is in
/// neither.
NetworkCases cases_of(const IngestResult& profile);

/// Why there are no cases, where there are none.
std::string why_no_cases(const NetworkCases& cases);

/// What became cases and what did not.
void print_network_cases(std::ostream& out, const NetworkCases& cases, const ReportLayout& layout);

/// A case file (docs/case-files.md) that `opbench run --cases` takes, with what is not known in
/// comments. `sources`: the files it was made from.
void write_case_file(std::ostream& out, const NetworkCases& cases,
                     const std::vector<IngestedFile>& sources);

}  // namespace opbench
