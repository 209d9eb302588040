#pragma once

#include "harness/report/report.h"

namespace opbench::report {

/// What the tables of a run show on the console.
enum class RowDetail {
  usual,  ///< what most readers want: time, how much faster than native, GB/s, the verdict
  all,    ///< spread, roofline, the share inside the tolerance and the largest error too
};

/// As without detail, which is the usual one.
void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style,
                RowDetail detail);
void print_heading(std::ostream& out, const ConsoleStyle& style, RowDetail detail);
void print_summary(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                   RowDetail detail);

/// The last part of the summary: counts by status, what the run took, and whether it was disturbed.
void print_end_of_run(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                      RowDetail detail);

}  // namespace opbench::report
