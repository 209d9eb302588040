#include <fmt/format.h>

#include <array>
#include <optional>
#include <ostream>
#include <vector>

#include "harness/report/context.h"
#include "harness/report/digest.h"
#include "harness/report/disturbance.h"
#include "harness/report/row_detail.h"
#include "harness/report/status_colour.h"
#include "harness/report/text.h"
#include "tensor/printable.h"

namespace opbench::report {
namespace {

std::string verdict_text(const Record& record, const ConsoleStyle& style) {
  const std::string text = coloured(status_text(record), status_colour(record.status), style);
  const std::string whole =
      record.reason.empty() ? text : fmt::format("{}: {}", text, printable(record.reason));
  const std::string disturbance = disturbance_text(record);
  return disturbance.empty() ? whole : fmt::format("{}, {}", whole, disturbance);
}

// "copy 11.2 GB/s (mixed, streamed)"
std::string copy_text(const Record& record) {
  std::string text = fmt::format("copy {:.1f} GB/s", record.copy_gb_per_s);
  if (!record.copy_way.empty()) text += fmt::format(" ({})", record.copy_way);
  return text;
}

/// The cells between the variant and the verdict.
using Cells = std::vector<std::string>;

std::string row_of(const Cells& cells) {
  constexpr std::array kWidths = {11, 7, 8, 13, 9, 8, 8};
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += fmt::format(" {:>{}}", cells[i], kWidths[i]);
  }
  return text;
}

std::string numbers_text(const Record& record, const TimeUnit& unit, RowDetail detail) {
  Cells cells(5, "-");
  if (const std::optional<Times>& times = record.times) {
    cells = {time_text(times->median_us, unit), spread_text(record),
             fmt::format("{:.1f}", times->gb_per_s), roofline_text(record),
             ratio_text(record, times->speedup_over_native)};
  }
  cells.push_back(inside_text(record));
  if (detail == RowDetail::errors) cells.push_back(ulp_text(record));
  return row_of(cells);
}

}  // namespace

void print_heading(std::ostream& out, const ConsoleStyle& style, RowDetail detail) {
  Cells cells = {"time", "spread", "GB/s", "roofline", "v. native", "inside"};
  if (detail == RowDetail::errors) cells.emplace_back("max ULP");
  const std::string titles = fmt::format("  {:<20}{}  verdict", "variant", row_of(cells));
  out << coloured(titles, kDim, style) << '\n';
}

void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style,
                RowDetail detail) {
  const Record& first = records.front();
  if (first.step) return print_contexts(out, records, style);
  const std::string title = with_short_lists(first.case_id);
  std::string details = fmt::format("{} thread{}", first.threads, first.threads == 1 ? "" : "s");
  if (!first.case_name.empty()) details = fmt::format("{}, {}", name_text(first), details);
  if (first.cold) details += ", cold";
  if (first.copy_gb_per_s > 0) details += fmt::format(", {}", copy_text(first));
  out << coloured(printable(title), kBold, style) << "  (" << printable(details) << ")\n";
  const TimeUnit unit = unit_for(records);
  for (const Record& record : records) {
    if (record.status == Status::skipped) continue;
    const std::string line =
        fmt::format("{} {:<20}{}", record.is_best ? '*' : ' ', printable(record.variant),
                    numbers_text(record, unit, detail));
    out << (record.is_best ? coloured(line, kBold, style) : line) << "  "
        << verdict_text(record, style) << '\n';
    if (record.status == Status::failed) out << "    again: " << record.reproduce << '\n';
  }
  for (const SkippedGroup& group : skipped_groups(records)) {
    out << "  " << coloured(printable(skipped_text(group)), kDim, style) << '\n';
  }
  out.flush();
}

void print_heading(std::ostream& out, const ConsoleStyle& style) {
  print_heading(out, style, RowDetail::usual);
}

void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  print_case(out, records, style, RowDetail::usual);
}

}  // namespace opbench::report
