#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "harness/report.h"

namespace opbench {
namespace {

constexpr std::string_view kBold = "\033[1m", kDim = "\033[2m", kGreen = "\033[32m",
                           kRed = "\033[31m", kYellow = "\033[33m", kReset = "\033[0m";

std::string coloured(std::string text, std::string_view code, const ConsoleStyle& style) {
  return style.colour ? fmt::format("{}{}{}", code, text, kReset) : text;
}

std::string time_text(double us) {
  if (us < 1e3) return fmt::format("{:.2f} us", us);
  if (us < 1e6) return fmt::format("{:.3f} ms", us / 1e3);
  return fmt::format("{:.3f} s ", us / 1e6);
}

std::string ulp_text(const Record& record) {
  if (!record.is_compared) return "-";
  if (record.max_ulp < 1e5) return fmt::format("{:.0f}", record.max_ulp);
  return fmt::format("{:.0e}", record.max_ulp);
}

std::string_view status_colour(Status status) {
  switch (status) {
    case Status::passed:
      return kGreen;
    case Status::failed:
    case Status::errored:
      return kRed;
    case Status::mistrusted:
    case Status::suspicious:
      return kYellow;
    default:
      return kDim;
  }
}

std::string verdict_text(const Record& record, const ConsoleStyle& style) {
  std::string text(name(record.status));
  if (record.status == Status::failed || record.status == Status::errored) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  }
  text = coloured(text, status_colour(record.status), style);
  return record.reason.empty() ? text : fmt::format("{}: {}", text, record.reason);
}

std::string numbers_text(const Record& record) {
  const std::string copy =
      record.copy_gb_per_s > 0 ? fmt::format("{:.0f} %", record.percent_of_copy) : "-";
  const std::string speedup =
      record.speedup_over_native > 0 ? fmt::format("{:.2f}x", record.speedup_over_native) : "-";
  return fmt::format("{:>11} {:>8.1f} {:>8} {:>9} {:>8}", time_text(record.median_us),
                     record.gb_per_s, copy, speedup, ulp_text(record));
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
  std::string title = fmt::format("{} {} {} {}", first.op, first.shape, first.dtype, first.format);
  if (!first.attributes.empty()) title += " " + first.attributes;
  if (first.backward) title += " forward+mean+backward";
  std::string details = fmt::format("{} thread{}", first.threads, first.threads == 1 ? "" : "s");
  if (!first.case_name.empty())
    details = fmt::format("{} x{}, {}", first.case_name, first.count, details);
  if (first.cold) details += ", cold";
  if (first.copy_gb_per_s > 0) details += fmt::format(", copy {:.1f} GB/s", first.copy_gb_per_s);
  out << coloured(title, kBold, style) << "  (" << details << ")\n";
  for (const Record& record : records) {
    const std::string line = fmt::format(
        "{} {:<20} {}", record.is_best ? '*' : ' ', record.variant,
        record.is_timed()
            ? numbers_text(record)
            : fmt::format("{:>11} {:>8} {:>8} {:>9} {:>8}", "-", "-", "-", "-", ulp_text(record)));
    out << (record.is_best ? coloured(line, kBold, style) : line) << "  "
        << verdict_text(record, style) << '\n';
  }
  out.flush();
}

}  // namespace opbench
