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

/// Layout of bars.
struct PlotStyle {
  ConsoleStyle console;
  bool is_unicode = true;  ///< eighths of blocks; else '#'
  std::size_t width = 80;  ///< columns of a line
};

/// A bar of `share`, from 0 to 1, of `columns`. It has at least the thinnest mark if the share is
/// not 0.
std::string bar_text(double share, std::size_t columns, bool is_unicode);

/// Draws the times of a case's variants as bars; the longest has the whole width. For a context it
/// draws the steps, with the factor to the first step. Prints nothing with fewer than two timed
/// records.
void plot_case(std::ostream& out, std::span<const Record> records, const PlotStyle& style);

/// Draws how many times faster than native variants are over all cases (geometric mean) as bars.
/// Prints nothing with fewer than two such numbers.
void plot_variants(std::ostream& out, std::span<const Record> records, const PlotStyle& style);

/// Variants that were skipped for one reason, over all cases.
struct SkippedGroup {
  std::string reason;
  std::vector<std::string> variants;  ///< in the order of the records, each once
  std::size_t count = 0;              ///< of results
};

/// The reasons for which results were skipped, the most frequent first.
std::vector<SkippedGroup> skipped_groups(std::span<const Record> records);

/// "skipped: gather_v2, gather_v3: takes fp16 only"; adds the number of results if there are more
/// results than variants.
std::string skipped_text(const SkippedGroup& group);

/// The `most` cases whose fastest passed result is furthest below the ceilings of its machine, the
/// furthest first. Steps of contexts and results without a time are skipped.
std::vector<const Record*> furthest_from_ceiling(std::span<const Record> records, std::size_t most);

/// Prints the main results of many cases: the slowest against their ceilings, the skipped ones and
/// the reasons. `rows` is the command line that prints all rows.
void print_digest(std::ostream& out, const RunResult& result, const std::string& rows,
                  const ConsoleStyle& style);

/// The title of a case or context, and the conditions of measuring in brackets; below the title if
/// the line has too little room.
void print_title(std::ostream& out, const std::string& title, const std::string& details,
                 const ConsoleStyle& style);

/// The numbers of a row, its verdict, and a remark, which begins with ": " or ", "; below the row
/// if the line has too little room.
void print_verdict(std::ostream& out, const Record& record, const std::string& line,
                   const std::string& remark, std::size_t indent, const ConsoleStyle& style);

/// The colour of a verdict.
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

/// A case's id for display: without attributes at their defaults, and with long lists cut. `--case`
/// accepts it if no list is cut. An id that this program cannot parse is shown unchanged.
std::string shown_id(const Record& record);

/// The end of the summary: counts by status, the time of the run, and disturbances.
void print_end_of_run(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                      RowDetail detail);

}  // namespace opbench::report
