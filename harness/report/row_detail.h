#pragma once

#include "harness/report/report.h"

namespace opbench::report {

/// What a row of a case shows on the console.
enum class RowDetail {
  usual,
  errors,  ///< the largest error too
};

/// As without detail, which is the usual one.
void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style,
                RowDetail detail);
void print_heading(std::ostream& out, const ConsoleStyle& style, RowDetail detail);

}  // namespace opbench::report
