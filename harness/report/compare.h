#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "harness/report/report.h"

namespace opbench::report {

/// Version of compare.json's format. Readers refuse others.
inline constexpr int kComparisonVersion = 1;

/// For people, in 80 columns: what is wrong, where it starts, whether it was made there, how wrong
/// it is; the worst `top` operators, those that amplify errors most, what was not compared and why;
/// last the counts, in one line. `comparison` has been analysed.
void print_comparison(std::ostream& out, const Comparison& comparison, std::size_t top,
                      const ConsoleStyle& style);

/// Everything: {"opbench_compare": 1, "command", "version", "revision", "date", "files",
/// "standard", "options", "partial", "load_mode", "verdict", "counts", "first_departure",
/// "operators": [flat objects], "tensors": [flat objects with the columns of
/// write_comparison_csv]}. Absent values and those that are no finite numbers are null; an infinite
/// amplification is too.
void write_comparison_json(std::ostream& out, const Comparison& comparison);

/// RFC 4180 with a line per tensor, in order of execution. Text that a spreadsheet would take for a
/// formula (it begins with = + - @, a tab or a carriage return) has an apostrophe before it; the
/// JSON has it as it is. Absent values are empty.
void write_comparison_csv(std::ostream& out, const Comparison& comparison);

}  // namespace opbench::report
