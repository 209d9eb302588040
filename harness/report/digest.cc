#include "harness/report/digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "harness/report/console.h"
#include "harness/report/text.h"
#include "harness/report/variant_summary.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

constexpr std::size_t kSlowest = 3;

void print_slowest(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  const std::vector<const Record*> slowest = furthest_from_ceiling(records, kSlowest);
  if (slowest.empty()) return;
  out << '\n'
      << coloured("Furthest below the ceiling, by the fastest variant:", kBold, style) << '\n';
  for (const Record* record : slowest) {
    const std::string head = fmt::format("  {:>13}  {:>10}  ", roofline_text(*record),
                                         time_text(record->times->median_us));
    const std::string text = printable(record->variant) + "  " + printable(shown_id(*record));
    out << head << wrapped(text, style.width, head.size(), head.size()) << '\n';
  }
  out << "  again: " << wrapped_command(slowest.front()->reproduce, style.width, 6, 9) << '\n';
}

void print_skipped(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  constexpr std::size_t kMost = 8;
  const std::vector<SkippedGroup> groups = skipped_groups(records);
  if (groups.empty()) return;
  out << '\n';
  for (std::size_t i = 0; i < std::min(kMost, groups.size()); ++i) {
    out << wrapped(printable(skipped_text(groups[i])), style.width, 2) << '\n';
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

}  // namespace opbench::report
