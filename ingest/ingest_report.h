#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "ingest/ingest.h"
#include "text/console_colour.h"

namespace opbench {

/// For people: files, time by type and by operator, groups, waiting, the check. `top`: rows of each
/// table; 0: all.
void print_ingest(std::ostream& out, const IngestResult& result, std::size_t top,
                  const ConsoleStyle& style);

/// Everything, all operators included.
void write_ingest_json(std::ostream& out, const IngestResult& result,
                       const std::string& command_line);

/// One line for each operator, the longest time first.
void write_ingest_csv(std::ostream& out, const IngestResult& result);

}  // namespace opbench
