#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/report.h"
#include "harness/run/record.h"
#include "harness/run/run_result.h"
#include "text/fitted.h"

namespace opbench::report {

/// How bars are drawn.
struct PlotStyle {
  ConsoleStyle console;
  bool is_unicode = true;  ///< eighths of blocks; else '#'
  std::size_t width = 80;  ///< columns of a line
};

/// A bar of `share`, from 0 to 1, of `columns`; at least its thinnest where the share is not 0.
std::string bar_text(double share, std::size_t columns, bool is_unicode);

/// The times of a case's variants as bars, the longest over the whole width; of a context the
/// ladder of its steps, with the factor to the first. Nothing where less than two were timed.
void plot_case(std::ostream& out, std::span<const Record> records, const PlotStyle& style);

/// How often variants over all cases are as fast as native (geometric mean) as bars; nothing where
/// less than two have such a number.
void plot_variants(std::ostream& out, std::span<const Record> records, const PlotStyle& style);

/// Variants that were skipped for one reason, over all cases.
struct SkippedGroup {
  std::string reason;
  std::vector<std::string> variants;  ///< in the order of the records, each once
  std::size_t count = 0;              ///< of results
};

/// The reasons for which results were skipped, the most frequent first.
std::vector<SkippedGroup> skipped_groups(std::span<const Record> records);

/// "skipped: gather_v2, gather_v3: takes fp16 only", with how many results where there are more
/// than variants.
std::string skipped_text(const SkippedGroup& group);

/// The `most` cases whose fastest result that passed is furthest below the ceilings that its
/// machine allows, the furthest first. Steps of contexts and what was not timed are left out.
std::vector<const Record*> furthest_from_ceiling(std::span<const Record> records, std::size_t most);

/// Of many cases what a reader has to know: what is slowest against its ceiling, what was skipped
/// and why. `rows` is the command line that prints all rows.
void print_digest(std::ostream& out, const RunResult& result, const std::string& rows,
                  const ConsoleStyle& style);

/// The title of a case or context, and in brackets how it was measured, below it where there is no
/// room beside it.
void print_title(std::ostream& out, const std::string& title, const std::string& details,
                 const ConsoleStyle& style);

/// The numbers of a row, its verdict, and a remark, which begins with ": " or ", ": below, where
/// there is no room beside.
void print_verdict(std::ostream& out, const Record& record, const std::string& line,
                   const std::string& remark, std::size_t indent, const ConsoleStyle& style);

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

/// The last part of the summary: counts by status, what the run took, and whether it was disturbed.
void print_end_of_run(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                      RowDetail detail);

}  // namespace opbench::report
