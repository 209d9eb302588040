#include "harness/report/network_total.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/report/text.h"
#include "harness/report/variant_summary.h"
#include "harness/run/record.h"

namespace opbench::report {
namespace {

/// The variants of one case.
struct CaseTimes {
  const Record* first = nullptr;
  std::optional<double> best_us, native_us;
};

void add(CaseTimes& times, const Record& record) {
  if (times.first == nullptr) times.first = &record;
  if (!is_comparable(record)) return;
  const double median = record.times->median_us;
  times.best_us = std::min(median, times.best_us.value_or(median));
  if (record.variant == "native") times.native_us = median;
}

void add(NetworkTotal& total, const CaseTimes& times) {
  ++total.cases;
  if (!times.best_us) {
    ++total.untimed;
    return;
  }
  const double calls = times.first->count;
  total.calls += times.first->count;
  total.weight_us += times.first->weight_us;
  total.best_us += calls * *times.best_us;
  total.native_us += calls * times.native_us.value_or(*times.best_us);
}

std::string time_of(double us) {
  std::string text = time_text(us);
  while (text.ends_with(' ')) text.pop_back();  // units are padded for tables
  return text;
}

}  // namespace

std::vector<NetworkTotal> network_totals(std::span<const Record> records) {
  std::map<Place, CaseTimes> by_place;
  std::vector<NetworkTotal> totals;
  for (const Record& record : records) {
    if (record.step || !(record.weight_us > 0)) continue;
    add(by_place[place_of(record)], record);
    const bool is_known = std::any_of(totals.begin(), totals.end(), [&](const NetworkTotal& one) {
      return one.threads == record.threads;
    });
    if (!is_known) totals.push_back({.threads = record.threads});
  }
  for (NetworkTotal& total : totals) {
    for (const auto& [place, times] : by_place) {
      if (place.second == total.threads) add(total, times);
    }
  }
  return totals;
}

std::string network_text(const NetworkTotal& total) {
  std::string text = fmt::format(
      "Network, {} case{} in {} calls, {} thread{}: {} with the fastest variants, {} native; {} "
      "when profiled",
      total.cases - total.untimed, total.cases - total.untimed == 1 ? "" : "s", total.calls,
      total.threads, total.threads == 1 ? "" : "s", time_of(total.best_us),
      time_of(total.native_us), time_of(total.weight_us));
  if (total.untimed > 0)
    text += fmt::format("; {} cases were not timed or are disturbed", total.untimed);
  return text + '\n';
}

}  // namespace opbench::report
