#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "harness/run/record.h"
#include "text/table.h"

namespace opbench::report {

/// The columns in which any of the records has a count of --counters, for CSV and tables.
std::vector<CountColumn> counted_columns(std::span<const Record> records);
/// The number of such a column; NaN if the record has none.
double count_of(const Record& record, const CountColumn& column);

/// A row for each record with counts, under its variant; with `has_cases` also its case and
/// threads. No columns without counts.
TextTable count_table(std::span<const Record> records, bool has_cases);

/// Prints the counts of a case below its rows; nothing without counts.
void print_counts(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style);

}  // namespace opbench::report
