#include "harness/report/console.h"

#include <fmt/format.h>

#include <cstddef>
#include <ostream>
#include <string>

#include "harness/plan/case.h"
#include "harness/report/digest.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench::report {

std::string shown_id(const Record& record) { return with_short_lists(key_of_id(record.case_id)); }

namespace {

// "copy 11.2 GB/s (mixed, streamed)"
std::string copy_text(const Record& record) {
  std::string text = fmt::format("copy {:.1f} GB/s", record.copy_gb_per_s);
  if (!record.copy_way.empty()) text += fmt::format(" ({})", record.copy_way);
  return text;
}

/// A column between the variant and the verdict.
struct Column {
  const char* title;
  std::size_t width;
  bool is_usual;
  std::string (*cell)(const Record& record, const TimeUnit& unit);
};

constexpr Column kColumns[] = {
    {"time", 12, true,
     [](const Record& r, const TimeUnit& unit) {
       return r.times ? time_text(r.times->median_us, unit) : "-";
     }},
    {"spread", 8, false, [](const Record& r, const TimeUnit&) { return spread_text(r); }},
    {"v. native", 11, true,
     [](const Record& r, const TimeUnit&) {
       return r.times ? ratio_text(r, r.times->speedup_over_native) : "-";
     }},
    {"GB/s", 8, true,
     [](const Record& r, const TimeUnit&) {
       return r.times ? fmt::format("{:.1f}", r.times->gb_per_s) : "-";
     }},
    {"roofline", 14, false, [](const Record& r, const TimeUnit&) { return roofline_text(r); }},
    {"inside", 9, false, [](const Record& r, const TimeUnit&) { return inside_text(r); }},
    {"max ULP", 9, false, [](const Record& r, const TimeUnit&) { return ulp_text(r); }},
};

// The variant and the columns of a row.
template <class Cell>
std::string row_of(const std::string& variant, RowDetail detail, Cell cell) {
  std::string text = fmt::format("{:<22}", variant);
  for (const Column& column : kColumns) {
    if (!column.is_usual && detail == RowDetail::usual) continue;
    text += fmt::format("{:>{}}", cell(column), column.width);
  }
  return text + "  ";
}

// What is to be said of a row beside its status. What made it noisy is a detail.
std::string remark_of(const Record& record, RowDetail detail) {
  const std::string signs = disturbance_text(record);
  const std::string usual = signs.empty() ? "" : is_disturbed(record) ? "disturbed" : "noisy";
  const std::string disturbance = detail == RowDetail::all ? signs : usual;
  if (disturbance.empty() || record.reason.empty()) return printable(record.reason) + disturbance;
  return printable(record.reason) + ", " + disturbance;
}

// What does not fit beside the numbers goes below them.
void print_row(std::ostream& out, const Record& record, const TimeUnit& unit,
               const ConsoleStyle& style, RowDetail detail) {
  constexpr std::size_t kIndent = 6;
  const std::string row = row_of(printable(record.variant), detail,
                                 [&](const Column& column) { return column.cell(record, unit); });
  const std::string line = fmt::format("{} {}", record.is_best ? '*' : ' ', row);
  const std::string status = status_text(record), remark = remark_of(record, detail);
  out << (record.is_best ? coloured(line, kBold, style) : line)
      << coloured(status, status_colour(record.status), style);
  if (remark.empty()) {
    out << '\n';
  } else if (utf8_length(line) + status.size() + 2 + utf8_length(remark) <= style.width) {
    out << (record.reason.empty() ? ", " : ": ") << remark << '\n';
  } else {
    const std::string below = wrapped(remark, style.width, kIndent, kIndent);
    out << '\n' << std::string(kIndent, ' ') << coloured(below, kDim, style) << '\n';
  }
}

std::string details_of(const Record& first, RowDetail detail) {
  std::string details = fmt::format("{} thread{}", first.threads, first.threads == 1 ? "" : "s");
  if (!first.case_name.empty()) details = fmt::format("{}, {}", name_text(first), details);
  if (first.cold) details += ", cold";
  const bool has_copy = first.copy_gb_per_s > 0 && detail == RowDetail::all;
  return has_copy ? fmt::format("{}, {}", details, copy_text(first)) : details;
}

}  // namespace

void print_title(std::ostream& out, const std::string& title, const std::string& details,
                 const ConsoleStyle& style) {
  constexpr std::size_t kIndent = 4;
  const std::string shown = printable(title), rest = fmt::format("({})", printable(details));
  out << coloured(wrapped(shown, style.width, kIndent), kBold, style);
  if (utf8_length(shown) + 2 + utf8_length(rest) <= style.width) {
    out << "  " << rest << '\n';
  } else {
    out << '\n'
        << std::string(kIndent, ' ') << wrapped(rest, style.width, kIndent, kIndent) << '\n';
  }
}

void print_heading(std::ostream& out, const ConsoleStyle& style, RowDetail detail) {
  const std::string titles =
      row_of("variant", detail, [](const Column& column) { return std::string(column.title); });
  out << coloured("  " + titles + "verdict", kDim, style) << '\n';
}

void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style,
                RowDetail detail) {
  const Record& first = records.front();
  if (first.step) return print_contexts(out, records, style);
  print_title(out, shown_id(first), details_of(first, detail), style);
  const TimeUnit unit = unit_for(records);
  for (const Record& record : records) {
    if (record.status == Status::skipped) continue;
    print_row(out, record, unit, style, detail);
    if (record.status == Status::failed) {
      out << "    again: " << wrapped_command(record.reproduce, style.width, 6, 11) << '\n';
    }
  }
  for (const SkippedGroup& group : skipped_groups(records)) {
    const std::string text = wrapped(printable(skipped_text(group)), style.width, 4, 2);
    out << "  " << coloured(text, kDim, style) << '\n';
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
