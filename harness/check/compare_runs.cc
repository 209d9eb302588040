#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "harness/check/watch.h"
#include "harness/report/text.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"
#include "text/table.h"

namespace opbench::check {
namespace {

/// One result in both runs.
struct Row {
  const Record* first;
  const Record* second;
  ChangeVerdict verdict;  ///< error, slower, faster, else same
  std::optional<double> output_error;
};

// Disturbed times give no verdict on speed.
ChangeVerdict shown_verdict(const CheckedItem& item, const Record& first, const Record& second) {
  if (item.is_regression) return ChangeVerdict::error;
  const bool is_time =
      item.verdict == ChangeVerdict::slower || item.verdict == ChangeVerdict::faster;
  return is_time && is_comparable(first) && is_comparable(second) ? item.verdict
                                                                  : ChangeVerdict::same;
}

std::string_view told_text(ChangeVerdict verdict) {
  if (verdict == ChangeVerdict::error) return "WORSE";
  return verdict == ChangeVerdict::same ? "same" : name(verdict);
}

std::string_view colour_of(ChangeVerdict verdict) {
  if (verdict == ChangeVerdict::error) return kRed;
  if (verdict == ChangeVerdict::same) return {};
  return verdict == ChangeVerdict::slower ? kYellow : kGreen;
}

std::string time_of(const Record& record) {
  return record.times ? report::time_text(record.times->median_us) : "-";
}

std::string ratio_text(const Row& row) {
  if (is_disturbed(*row.first) || is_disturbed(*row.second)) return "disturbed";
  if (!row.first->times || !row.second->times || !(row.second->times->median_us > 0)) return "-";
  return fmt::format("{:.2f}", row.first->times->median_us / row.second->times->median_us);
}

void print_origin(std::ostream& out, const char* name, const ResultsFile& file) {
  const Machine& m = file.machine;
  out << printable(fmt::format("{}: {}, opbench {} ({}), {}, {}", name, file.path, m.version,
                               m.revision, m.cpu, m.date))
      << '\n';
}

// Pairs of results that both runs have: differing pairs first, the others in the order of the first
// run. Counts results of a single run in `found`.
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
    const ChangeVerdict verdict = shown_verdict(*item.mapped(), record, *other->second);
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
  constexpr std::size_t kFew = 20, kLongestId = 60;
  TextTable table{
      columns_of("first|second|>ULP|>ULP|>apart|>time|>time|>ratio|change|variant|case")};
  for (const Row& row : rows) {
    if (!all && row.verdict == ChangeVerdict::same && rows.size() > kFew) continue;
    table.rows.push_back({report::status_text(*row.first), report::status_text(*row.second),
                          report::ulp_text(*row.first), report::ulp_text(*row.second),
                          row.output_error ? fmt::format("{:.1e}", *row.output_error) : "-",
                          time_of(*row.first), time_of(*row.second), ratio_text(row),
                          std::string(told_text(row.verdict)), row.first->variant,
                          report::with_short_lists(row.first->case_id, kLongestId)});
    table.colours.push_back(colour_of(row.verdict));
  }
  out << '\n';
  print_table(out, table, {style.colour, std::string::npos}, 0);  // rows stay whole lines
  if (table.rows.size() == rows.size()) return;
  out << fmt::format("and {} results that are the same; --verbose shows them\n",
                     rows.size() - table.rows.size());
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
    out << "The machines differ: times are shown but not compared.\n";
  }
  print_rows(out, rows, all, style);
  out << fmt::format(
      "\n{} results in both: {} worse, {} slower, {} faster; {} only in the first, {} only in the "
      "second\n",
      found.pairs, found.worse, found.slower, found.faster, found.only_first, found.only_second);
  if (found.slower + found.faster > 0) {
    out << "Other load of the machine changes the times of two runs too: opbench check --against "
           "decides.\n";
  }
  return found;
}

}  // namespace opbench::check
