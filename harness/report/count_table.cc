#include "harness/report/count_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>

namespace opbench::report {
namespace {

// "1.24M": three digits.
std::string count_text(double count) {
  if (std::isnan(count)) return "-";
  constexpr std::string_view kUnits[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (count >= 999.5 && unit + 1 < std::size(kUnits)) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g}{}", count, kUnits[unit]);
}

}  // namespace

double count_of(const Record& record, const CountColumn& column) {
  if (!record.times || !record.times->counts) return std::numeric_limits<double>::quiet_NaN();
  return column.value(*record.times->counts, record.bytes);
}

std::vector<CountColumn> counted_columns(std::span<const Record> records) {
  std::vector<CountColumn> columns;
  for (const CountColumn& column : count_columns()) {
    const bool is_any = std::any_of(records.begin(), records.end(), [&](const Record& record) {
      return !std::isnan(count_of(record, column));
    });
    if (is_any) columns.push_back(column);
  }
  return columns;
}

TextTable count_table(std::span<const Record> records, bool has_cases) {
  const std::vector<CountColumn> columns = counted_columns(records);
  TextTable table;
  if (columns.empty()) return table;
  table.columns = columns_of(has_cases ? "variant|case|>threads" : "per call");
  for (const CountColumn& column : columns) {
    table.columns.push_back({std::string(column.title), true});
  }
  for (const Record& record : records) {
    if (!record.times || !record.times->counts) continue;
    TextTable::Row row = {record.variant};
    if (has_cases) row.insert(row.end(), {record.case_id, std::to_string(record.threads)});
    for (const CountColumn& column : columns) row.push_back(count_text(count_of(record, column)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void print_counts(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  const TextTable table = count_table(records, false);
  if (table.columns.empty()) return;
  constexpr std::size_t kIndent = 2;
  for (const TextTable& part : split_up(table, style.width - kIndent)) {
    print_table(out, part, style, kIndent);
  }
}

}  // namespace opbench::report
