#pragma once

#include <iosfwd>
#include <span>

#include "harness/report.h"

// Reports of contexts: records that have a step. Records of single operators are passed over.
namespace opbench {

/// For every context a table of its steps and, below it, one that tells by type of task where the
/// time goes, in 120 columns.
void print_contexts(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style);

}  // namespace opbench
