#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "profiles/findings.h"
#include "profiles/report_lines.h"

namespace opbench {

/// What a report takes beside the profile.
struct IngestReport {
  ReportLayout layout;
  CoreCounts cores;
  std::vector<Finding> findings;
  bool is_brief = false;  ///< where the time goes, and what was read: another report follows
};

/// For people: where the time goes, files, findings, time by type and by operator, groups, waits,
/// the check.
void print_ingest(std::ostream& out, const IngestResult& result, const IngestReport& report);

/// Everything, all operators included.
void write_ingest_json(std::ostream& out, const IngestResult& result,
                       const std::vector<Finding>& findings, const std::string& command_line);

/// One line for each operator, the longest time first.
void write_ingest_csv(std::ostream& out, const IngestResult& result);

}  // namespace opbench
