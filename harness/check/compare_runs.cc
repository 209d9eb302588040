#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "harness/check/watch.h"
#include "harness/report/text.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"

namespace opbench::check {
namespace {

/// One result in both runs.
struct Row {
  const Record* first;
  const Record* second;
  ChangeVerdict verdict;  ///< error, slower, faster, else same
  std::optional<double> output_error;
};

// Times that other work made say nothing.
ChangeVerdict told_verdict(const CheckedItem& item, const Record& first, const Record& second) {
  if (item.is_regression) return ChangeVerdict::error;
  const bool is_time =
      item.verdict == ChangeVerdict::slower || item.verdict == ChangeVerdict::faster;
  return is_time && is_comparable(first) && is_comparable(second) ? item.verdict
                                                                  : ChangeVerdict::same;
}

std::string told_text(ChangeVerdict verdict, const ConsoleStyle& style) {
  if (verdict == ChangeVerdict::error) return coloured("WORSE", kRed, style);
  if (verdict == ChangeVerdict::same) return "same";
  return coloured(name(verdict), verdict == ChangeVerdict::slower ? kYellow : kGreen, style);
}

std::string time_of(const Record& record) {
  return record.times ? report::time_text(record.times->median_us) : "-";
}

std::string ratio_text(const Row& row) {
  if (is_disturbed(*row.first) || is_disturbed(*row.second)) return "disturbed";
  if (!row.first->times || !row.second->times || !(row.second->times->median_us > 0)) return "-";
  return fmt::format("{:.2f}", row.first->times->median_us / row.second->times->median_us);
}

void print_row(std::ostream& out, const Row& row, const ConsoleStyle& style) {
  constexpr std::size_t kLongestId = 60;
  const auto error = row.output_error ? fmt::format("{:.1e}", *row.output_error) : "-";
  out << fmt::format("{:<10} {:<10} {:>8} {:>8} {:>8} {:>11} {:>11} {:>6}  ",
                     report::status_text(*row.first), report::status_text(*row.second),
                     report::ulp_text(*row.first), report::ulp_text(*row.second), error,
                     time_of(*row.first), time_of(*row.second), ratio_text(row))
      << told_text(row.verdict, style) << "  " << printable(row.first->variant) << "  "
      << printable(report::with_short_lists(row.first->case_id, kLongestId)) << '\n';
}

void print_origin(std::ostream& out, const char* name, const ResultsFile& file) {
  const Machine& m = file.machine;
  out << printable(fmt::format("{}: {}, opbench {} ({}), {}, {}", name, file.path, m.version,
                               m.revision, m.cpu, m.date))
      << '\n';
}

// What both runs have, those that differ first, else in the order of the first; counts what they do
// not.
std::vector<Row> pair_up(const CheckReport& report, const ResultsFile& first,
                         const ResultsFile& second, const OutputError& output_error,
                         RunDifferences& found) {
  std::map<ResultKey, const CheckedItem*> items;
  for (const CheckedItem& item : report.items) {
    items[{item.case_key, item.variant, item.threads, item.cold}] = &item;
  }
  std::map<ResultKey, const Record*> others;
  for (const Record& record : second.run.records) others[key_of(record)] = &record;
  std::vector<Row> rows;
  for (const Record& record : first.run.records) {
    const auto item = items.extract(key_of(record));
    if (!item) continue;  // skipped in both
    const auto other = others.find(item.key());
    if (other == others.end()) {
      ++found.only_first;
      continue;
    }
    const ChangeVerdict verdict = told_verdict(*item.mapped(), record, *other->second);
    rows.push_back({&record, other->second, verdict, output_error(record)});
    found.worse += verdict == ChangeVerdict::error;
    found.slower += verdict == ChangeVerdict::slower;
    found.faster += verdict == ChangeVerdict::faster;
  }
  found.pairs = rows.size();
  found.only_second = items.size();
  std::ranges::stable_sort(
      rows, {}, [](const Row& row) { return std::ranges::find(kAllVerdicts, row.verdict); });
  return rows;
}

void print_rows(std::ostream& out, const std::vector<Row>& rows, bool all,
                const ConsoleStyle& style) {
  constexpr std::size_t kFew = 20;
  const std::string titles =
      fmt::format("{:<10} {:<10} {:>8} {:>8} {:>8} {:>11} {:>11} {:>6}  {}", "first", "second",
                  "ULP", "ULP", "apart", "time", "time", "ratio", "change");
  out << '\n' << coloured(titles, kDim, style) << '\n';
  std::size_t shown = 0;
  for (const Row& row : rows) {
    if (!all && row.verdict == ChangeVerdict::same && rows.size() > kFew) continue;
    print_row(out, row, style);
    ++shown;
  }
  if (shown == rows.size()) return;
  out << fmt::format("and {} results that are the same; --verbose shows them\n",
                     rows.size() - shown);
}

}  // namespace

RunDifferences compare_runs(std::ostream& out, const ResultsFile& first, const ResultsFile& second,
                            const OutputError& output_error, bool all, const ConsoleStyle& style) {
  RunDifferences found;
  const CheckReport report = run_watch(second, first, {});
  const std::vector<Row> rows = pair_up(report, first, second, output_error, found);
  print_origin(out, "first ", first);
  print_origin(out, "second", second);
  if (machine_differences(second.machine, first.machine).empty()) {
    out << "note: " << report.notices.front() << '\n';
  } else {
    out << "The machines differ: times are shown and not compared.\n";
  }
  print_rows(out, rows, all, style);
  out << fmt::format(
      "\n{} results in both: {} worse, {} slower, {} faster; {} only in the first, {} only in the "
      "second\n",
      found.pairs, found.worse, found.slower, found.faster, found.only_first, found.only_second);
  if (found.slower + found.faster > 0) {
    out << "Times of two runs differ by what the machine did meanwhile, too: opbench check "
           "--against decides.\n";
  }
  return found;
}

}  // namespace opbench::check
