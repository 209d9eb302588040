#include "harness/report/console.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <ostream>
#include <string>

#include "harness/plan/case.h"
#include "harness/report/count_table.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "harness/report/variant_summary.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/table.h"

namespace opbench::report {
namespace {

constexpr std::size_t kSlowest = 3;

void print_slowest(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  const std::vector<const Record*> slowest = furthest_from_ceiling(records, kSlowest);
  if (slowest.empty()) return;
  out << '\n'
      << coloured("Furthest below the ceiling, by the fastest variant:", kBold, style) << '\n';
  TextTable table{columns_of(">|>||")};
  for (const Record* record : slowest) {
    table.rows.push_back({roofline_text(*record), time_text(record->times->median_us),
                          record->variant, shown_id(*record)});
  }
  print_table(out, table, style);
  out << "  again: " << wrapped_command(slowest.front()->reproduce, style.width, 6, 9) << '\n';
}

void print_skipped(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  constexpr std::size_t kMost = 8;
  const std::vector<SkippedGroup> groups = skipped_groups(records);
  if (groups.empty()) return;
  out << '\n';
  for (std::size_t i = 0; i < std::min(kMost, groups.size()); ++i) {
    say(out, skipped_text(groups[i]), 0, 2, style.width);
  }
  if (groups.size() > kMost) out << fmt::format("and {} more reasons\n", groups.size() - kMost);
}

}  // namespace

std::vector<SkippedGroup> skipped_groups(std::span<const Record> records) {
  std::vector<SkippedGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const Record& record : records) {
    if (record.status != Status::skipped) continue;
    const auto [place, is_new] = places.try_emplace(record.reason, groups.size());
    if (is_new) groups.push_back({record.reason, {}, 0});
    SkippedGroup& group = groups[place->second];
    ++group.count;
    const auto& known = group.variants;
    if (std::find(known.begin(), known.end(), record.variant) == known.end()) {
      group.variants.push_back(record.variant);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  return groups;
}

std::string skipped_text(const SkippedGroup& group) {
  const std::string count =
      group.count > group.variants.size() ? fmt::format("{}x ", group.count) : "";
  return fmt::format("skipped: {}{}: {}", count, fmt::join(group.variants, ", "), group.reason);
}

std::vector<const Record*> furthest_from_ceiling(std::span<const Record> records,
                                                 std::size_t most) {
  std::map<Place, const Record*> fastest;
  for (const Record& record : records) {
    const bool is_sound = record.status == Status::passed || record.status == Status::mistrusted;
    if (record.step || !is_comparable(record) || !is_sound || !(percent_of_ceiling(record) > 0))
      continue;
    const Record*& best = fastest[place_of(record)];
    if (best == nullptr || record.times->median_us < best->times->median_us) best = &record;
  }
  std::vector<const Record*> found;
  for (const auto& [place, record] : fastest) found.push_back(record);
  std::stable_sort(found.begin(), found.end(), [](const Record* a, const Record* b) {
    return percent_of_ceiling(*a) < percent_of_ceiling(*b);
  });
  found.resize(std::min(most, found.size()));
  return found;
}

void print_digest(std::ostream& out, const RunResult& result, const std::string& rows,
                  const ConsoleStyle& style) {
  print_slowest(out, result.records, style);
  print_skipped(out, result.records, style);
  out << "\nEvery row: " << wrapped_command(rows, style.width, 2, 11) << '\n';
}

std::string shown_id(const Record& record) { return with_short_lists(key_of_id(record.case_id)); }

namespace {

// "copy 11.2 GB/s (mixed, streamed)"
std::string copy_text(const Record& record) {
  std::string text = fmt::format("copy {:.1f} GB/s", record.copy_gb_per_s);
  if (!record.copy_way.empty()) text += fmt::format(" ({})", record.copy_way);
  return text;
}

/// Texts of a row between the mark and the verdict.
struct RowCells {
  std::string variant, time, spread, speedup, rate, roofline, inside, ulp;
};

std::string row_of(const RowCells& c, RowDetail detail) {
  if (detail == RowDetail::usual) {
    return fmt::format("{:<22}{:>12}{:>11}{:>8}  ", c.variant, c.time, c.speedup, c.rate);
  }
  return fmt::format("{:<22}{:>12}{:>8}{:>11}{:>8}{:>14}{:>9}{:>9}  ", c.variant, c.time, c.spread,
                     c.speedup, c.rate, c.roofline, c.inside, c.ulp);
}

// The remark on a row in addition to its status. Reasons for noise are a detail.
std::string remark_of(const Record& record, RowDetail detail) {
  const std::string signs = disturbance_text(record);
  const std::string usual = signs.empty() ? "" : is_disturbed(record) ? "disturbed" : "noisy";
  const std::string disturbance = detail == RowDetail::all ? signs : usual;
  std::vector<std::string> remarks = {printable(record.reason), noise_text(record), disturbance};
  std::erase(remarks, "");
  return fmt::format("{}", fmt::join(remarks, ", "));
}

void print_row(std::ostream& out, const Record& record, const TimeUnit& unit,
               const ConsoleStyle& style, RowDetail detail) {
  const std::optional<Times>& times = record.times;
  const std::string row =
      row_of({printable(record.variant), times ? time_text(times->median_us, unit) : "-",
              spread_text(record), times ? ratio_text(record, times->speedup_over_native) : "-",
              times ? fmt::format("{:.1f}", times->gb_per_s) : "-", roofline_text(record),
              inside_text(record), ulp_text(record)},
             detail);
  const std::string line = fmt::format("{} {}", record.is_best ? '*' : ' ', row);
  std::string remark = remark_of(record, detail);
  if (!remark.empty()) remark = (record.reason.empty() ? ", " : ": ") + remark;
  print_verdict(out, record, line, remark, 6, style);
}

std::string details_of(const Record& first, RowDetail detail) {
  std::string details = counted(first.threads, "thread");
  if (!first.case_name.empty()) details = fmt::format("{}, {}", name_text(first), details);
  if (first.cold) details += ", cold";
  if (first.input_copies > 1) details += fmt::format(", inputs at {} places", first.input_copies);
  const bool has_copy = first.copy_gb_per_s > 0 && detail == RowDetail::all;
  return has_copy ? fmt::format("{}, {}", details, copy_text(first)) : details;
}

}  // namespace

void print_verdict(std::ostream& out, const Record& record, const std::string& line,
                   const std::string& remark, std::size_t indent, const ConsoleStyle& style) {
  const std::string status = status_text(record);
  out << (record.is_best ? coloured(line, kBold, style) : line)
      << coloured(status, status_colour(record.status), style);
  if (utf8_length(line) + status.size() + utf8_length(remark) <= style.width) {
    out << remark;
  } else if (remark.size() > 2) {
    const std::string below = wrapped(remark.substr(2), style.width, indent, indent);
    out << '\n' << std::string(indent, ' ') << coloured(below, kDim, style);
  }
  out << '\n';
}

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
  const std::string titles = row_of(
      {"variant", "time", "spread", "v. native", "GB/s", "roofline", "inside", "max ULP"}, detail);
  out << coloured("  " + titles + "verdict", kDim, style) << '\n';
}

void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style,
                RowDetail detail) {
  const Record& first = records.front();
  if (first.step) {
    print_contexts(out, records, style);
    return print_counts(out, records, style);
  }
  print_title(out, shown_id(first), details_of(first, detail), style);
  const TimeUnit unit = unit_for(records);
  for (const Record& record : records) {
    if (record.status == Status::skipped) continue;
    print_row(out, record, unit, style, detail);
    if (record.status == Status::failed) {
      out << "    again: " << wrapped_command(record.reproduce, style.width, 6, 11) << '\n';
    }
  }
  print_counts(out, records, style);
  for (const SkippedGroup& group : skipped_groups(records)) {
    const std::string text = wrapped(printable(skipped_text(group)), style.width, 4, 2);
    out << "  " << coloured(text, kDim, style) << '\n';
  }
  out.flush();
}

}  // namespace opbench::report
