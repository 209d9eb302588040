#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "ingest/findings.h"
#include "ingest/ingest.h"
#include "text/console_colour.h"

namespace opbench {

/// What a report takes beside the profile.
struct IngestReport {
  std::size_t top = 0;  ///< rows of each table; 0: all
  CoreCounts cores;
  std::vector<Finding> findings;
};

/// For people: files, time by type and by operator, groups, waiting, findings, the check.
void print_ingest(std::ostream& out, const IngestResult& result, const IngestReport& report,
                  const ConsoleStyle& style);

/// Everything, all operators included.
void write_ingest_json(std::ostream& out, const IngestResult& result,
                       const std::vector<Finding>& findings, const std::string& command_line);

/// One line for each operator, the longest time first.
void write_ingest_csv(std::ostream& out, const IngestResult& result);

}  // namespace opbench
