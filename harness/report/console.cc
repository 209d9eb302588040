#include <fmt/format.h>

#include <ostream>

#include "harness/report/context.h"
#include "harness/report/report.h"
#include "harness/report/status_colour.h"
#include "harness/report/text.h"
#include "tensor/printable.h"

namespace opbench::report {
namespace {

std::string verdict_text(const Record& record, const ConsoleStyle& style) {
  const std::string text = coloured(status_text(record), status_colour(record.status), style);
  return record.reason.empty() ? text : fmt::format("{}: {}", text, printable(record.reason));
}

std::string numbers_text(const Record& record) {
  const Times& times = *record.times;
  const std::string copy =
      record.copy_gb_per_s > 0 ? fmt::format("{:.0f} %", times.percent_of_copy) : "-";
  return fmt::format("{:>11} {:>8.1f} {:>8} {:>9} {:>8}", time_text(times.median_us),
                     times.gb_per_s, copy, factor_text(times.speedup_over_native),
                     ulp_text(record));
}

}  // namespace

void print_heading(std::ostream& out, const ConsoleStyle& style) {
  const std::string titles =
      fmt::format("  {:<20} {:>11} {:>8} {:>8} {:>9} {:>8}  {}", "variant", "time", "GB/s",
                  "of copy", "v. native", "max ULP", "verdict");
  out << coloured(titles, kDim, style) << '\n';
}

void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  const Record& first = records.front();
  if (first.step) return print_contexts(out, records, style);
  std::string title = fmt::format("{} {} {} {}", first.op, with_short_lists(first.shape),
                                  first.dtype, first.format);
  if (!first.attributes.empty()) {
    title += fmt::format(" {}", with_short_lists(first.attributes));
  }
  if (first.backward) title += " forward+backward";
  std::string details = fmt::format("{} thread{}", first.threads, first.threads == 1 ? "" : "s");
  if (!first.case_name.empty()) details = fmt::format("{}, {}", name_text(first), details);
  if (first.cold) details += ", cold";
  if (first.copy_gb_per_s > 0) details += fmt::format(", copy {:.1f} GB/s", first.copy_gb_per_s);
  out << coloured(printable(title), kBold, style) << "  (" << printable(details) << ")\n";
  for (const Record& record : records) {
    const std::string line = fmt::format(
        "{} {:<20} {}", record.is_best ? '*' : ' ', printable(record.variant),
        record.is_timed()
            ? numbers_text(record)
            : fmt::format("{:>11} {:>8} {:>8} {:>9} {:>8}", "-", "-", "-", "-", ulp_text(record)));
    out << (record.is_best ? coloured(line, kBold, style) : line) << "  "
        << verdict_text(record, style) << '\n';
  }
  out.flush();
}

}  // namespace opbench::report
