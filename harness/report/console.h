#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "harness/report/report.h"
#include "harness/run/record.h"
#include "text/fitted.h"

namespace opbench::report {

/// The title of a case or context, and in brackets how it was measured, below it where there is no
/// room beside it.
void print_title(std::ostream& out, const std::string& title, const std::string& details,
                 const ConsoleStyle& style);

/// What a verdict is printed in.
inline std::string_view status_colour(Status status) {
  switch (status) {
    case Status::passed:
      return kGreen;
    case Status::failed:
    case Status::errored:
      return kRed;
    case Status::mistrusted:
    case Status::suspicious:
    case Status::xfailed:
      return kYellow;
    default:
      return kDim;
  }
}

/// A case's id for the eye: without attributes that have their default value, long lists cut.
/// `--case` takes it where no list is cut. An id that this program cannot read is shown as it is.
std::string shown_id(const Record& record);

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
