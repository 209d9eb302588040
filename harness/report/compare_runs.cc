#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <tuple>
#include <vector>

#include "harness/report/compare.h"
#include "harness/report/text.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"

namespace opbench::report {
namespace {

constexpr double kLeastChange = 0.05;

using Key = std::tuple<std::string, std::string, int, bool, std::string>;

Key key_of(const Record& r) { return {r.case_id, r.variant, r.threads, r.cold, r.isa}; }

enum class Change { none, worse, slower, faster };

/// One result in both runs.
struct Row {
  const Record* first;
  const Record* second;
  Change change = Change::none;
  std::optional<double> output_error;
};

bool is_sound(Status status) {
  return status == Status::passed || status == Status::mistrusted || status == Status::suspicious;
}

bool is_worse(const Record& now, const Record& before) {
  if (is_sound(before.status) && (now.status == Status::failed || now.status == Status::errored)) {
    return true;
  }
  if (!now.accuracy || !before.accuracy) return false;
  return now.accuracy->max_ulp > 1.5 * before.accuracy->max_ulp + 1 ||
         now.accuracy->nonfinite_mismatches > before.accuracy->nonfinite_mismatches;
}

Change change_of(const Record& now, const Record& before, bool is_same_machine) {
  if (is_worse(now, before)) return Change::worse;
  if (!is_same_machine || !is_comparable(now) || !is_comparable(before)) return Change::none;
  const double apart = now.times->median_us - before.times->median_us;
  const double noise = 3 * (now.times->mad_us + before.times->mad_us);
  const double least = kLeastChange * std::min(now.times->median_us, before.times->median_us);
  if (std::abs(apart) <= std::max(noise, least)) return Change::none;
  return apart > 0 ? Change::slower : Change::faster;
}

std::string change_text(Change change, const ConsoleStyle& style) {
  switch (change) {
    case Change::worse:
      return coloured("WORSE", kRed, style);
    case Change::slower:
      return coloured("SLOWER", kYellow, style);
    case Change::faster:
      return coloured("FASTER", kGreen, style);
    case Change::none:
      break;
  }
  return "same";
}

std::string time_of(const Record& record) {
  return record.times ? time_text(record.times->median_us) : "-";
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
                     status_text(*row.first), status_text(*row.second), ulp_text(*row.first),
                     ulp_text(*row.second), error, time_of(*row.first), time_of(*row.second),
                     ratio_text(row))
      << change_text(row.change, style) << "  " << printable(row.first->variant) << "  "
      << printable(with_short_lists(row.first->case_id, kLongestId)) << '\n';
}

// The order of rows that differ: what is wrong first, then by ratio.
bool comes_before(const Row& a, const Row& b) {
  const auto rank = [](const Row& row) {
    return row.change == Change::none ? 4 : static_cast<int>(row.change);
  };
  return rank(a) < rank(b);
}

void print_origin(std::ostream& out, const char* name, const ResultsFile& file) {
  const Machine& m = file.machine;
  out << printable(fmt::format("{}: {}, opbench {} ({}), {}, {}", name, file.path, m.version,
                               m.revision, m.cpu, m.date))
      << '\n';
}

bool is_same_machine(const Machine& a, const Machine& b) {
  return a.cpu == b.cpu && a.cores == b.cores;
}

// What both runs have, in the order of the first; counts what they do not.
std::vector<Row> pair_up(const ResultsFile& first, const ResultsFile& second,
                         const OutputError& output_error, RunDifferences& found) {
  const bool same_machine = is_same_machine(first.machine, second.machine);
  std::map<Key, const Record*> others;
  for (const Record& record : second.run.records) others[key_of(record)] = &record;
  std::vector<Row> rows;
  for (const Record& record : first.run.records) {
    const auto other = others.find(key_of(record));
    if (other == others.end()) {
      ++found.only_first;
      continue;
    }
    const Change change = change_of(record, *other->second, same_machine);
    rows.push_back({&record, other->second, change, output_error(record)});
    others.erase(other);
    found.worse += change == Change::worse;
    found.slower += change == Change::slower;
    found.faster += change == Change::faster;
  }
  found.pairs = rows.size();
  found.only_second = others.size();
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
    if (!all && row.change == Change::none && rows.size() > kFew) continue;
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
  std::vector<Row> rows = pair_up(first, second, output_error, found);
  std::stable_sort(rows.begin(), rows.end(), comes_before);
  print_origin(out, "first ", first);
  print_origin(out, "second", second);
  if (!is_same_machine(first.machine, second.machine)) {
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

}  // namespace opbench::report
