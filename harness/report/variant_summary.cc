#include "harness/report/variant_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "harness/report/text.h"
#include "harness/run/record.h"
#include "tensor/processor.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

std::string mean_and_worst(const std::vector<double>& values, double worst, const char* unit,
                           int digits) {
  return fmt::format("{:.{}f}{} ({:.{}f})", geometric_mean(values), digits, unit, worst, digits);
}

void add_record(VariantSummary& summary, const Record& record, double beyond_bytes,
                const std::map<Place, double>& vendor) {
  summary.failed += record.status == Status::failed || record.status == Status::errored;
  summary.skipped += record.status == Status::skipped;
  if (!record.is_timed()) return;
  const Times& times = *record.times;
  ++summary.timed;
  if (is_disturbed(times)) return;
  if (times.speedup_over_native > 0) summary.speedups.push_back(times.speedup_over_native);
  if (beyond_bytes > 0 && record.bytes <= beyond_bytes) return;
  if (percent_of_ceiling(record) > 0) summary.percents.push_back(percent_of_ceiling(record));
  const auto found = vendor.find(place_of(record));
  if (found != vendor.end()) summary.vendor_ratios.push_back(times.median_us / found->second);
}

// Comparable records at one place.
struct Contest {
  const Record* native = nullptr;
  const Record* vendor = nullptr;
  const Record* best = nullptr;  // of these
  std::vector<const Record*> tuned;
};

// Suspicious and disturbed times are not compared.
void enter(Contest& contest, const Record& record) {
  if (record.step || !is_comparable(record) || record.status == Status::suspicious) return;
  if (record.variant == "native") contest.native = &record;
  if (record.provider == "vendor") contest.vendor = &record;
  if (record.provider != "npu" && record.provider != "own") return;
  contest.tuned.push_back(&record);
  if (contest.best == nullptr || record.times->median_us < contest.best->times->median_us) {
    contest.best = &record;
  }
}

void add_if_slower(std::vector<SlowResult>& slow, const Record* record, const Record* faster) {
  if (record == nullptr || faster == nullptr || faster->times->median_us <= 0) return;
  const Times &times = *record->times, &best = *faster->times;
  const double noise = 3 * std::max(times.mad_us, best.mad_us);
  if (times.median_us <= 1.05 * best.median_us + noise) return;
  slow.push_back({record, faster, times.median_us / best.median_us});
}

}  // namespace

std::map<Place, double> vendor_medians(std::span<const Record> records) {
  std::map<Place, double> medians;
  for (const Record& record : records) {
    if (record.provider == "vendor" && is_comparable(record)) {
      medians[place_of(record)] = record.times->median_us;
    }
  }
  return medians;
}

std::string smallest_text(const std::vector<double>& values, const char* unit, int digits) {
  if (values.empty()) return "-";
  return mean_and_worst(values, *std::min_element(values.begin(), values.end()), unit, digits);
}

double VariantSummary::mean_speedup() const { return geometric_mean(speedups); }

std::string VariantComparison::title() const {
  std::string text = "Over all cases, geometric mean (worst)";
  if (beyond_bytes > 0) {
    text += fmt::format(
        "; % of roofline and time / onednn over cases beyond the {:.0f} MiB last-level cache",
        beyond_bytes / (1 << 20));
  }
  return text;
}

TextTable VariantComparison::table() const {
  TextTable table{columns_of(
      "variant|>threads|>timed|>failed|>skipped|>v. native|>% of roofline|>time / onednn")};
  for (const VariantSummary& s : variants) {
    const auto slowest = std::max_element(s.vendor_ratios.begin(), s.vendor_ratios.end());
    table.rows.push_back(
        {s.variant, std::to_string(s.threads), std::to_string(s.timed), std::to_string(s.failed),
         std::to_string(s.skipped), smallest_text(s.speedups, "x", 2),
         smallest_text(s.percents, "", 0),
         s.vendor_ratios.empty() ? "-" : mean_and_worst(s.vendor_ratios, *slowest, "", 2)});
  }
  return table;
}

VariantComparison compare_over_cases(std::span<const Record> records) {
  VariantComparison comparison;
  const auto cache = static_cast<double>(last_level_cache_bytes());
  const bool has_large = std::any_of(records.begin(), records.end(), [&](const Record& r) {
    return !r.step && r.is_timed() && r.bytes > cache;
  });
  if (has_large) comparison.beyond_bytes = cache;
  const auto vendor = vendor_medians(records);
  std::set<std::string> ops;
  for (const Record& record : records) {
    if (!record.step) ops.insert(record.op);
  }
  std::map<std::pair<int, std::string>, std::size_t> places;
  for (const Record& record : records) {
    if (record.step) continue;
    const std::string variant =
        ops.size() > 1 ? fmt::format("{}/{}", record.op, record.variant) : record.variant;
    const auto [place, is_new] =
        places.try_emplace({record.threads, variant}, comparison.variants.size());
    if (is_new) {
      VariantSummary& summary = comparison.variants.emplace_back();
      summary.variant = variant;
      summary.threads = record.threads;
    }
    add_record(comparison.variants[place->second], record, comparison.beyond_bytes, vendor);
  }
  return comparison;
}

std::vector<SlowResult> slower_than_expected(std::span<const Record> records) {
  std::map<Place, Contest> contests;
  std::vector<const Contest*> order;
  for (const Record& record : records) {
    const auto [found, is_new] = contests.try_emplace(place_of(record));
    if (is_new) order.push_back(&found->second);
    enter(found->second, record);
  }
  std::vector<SlowResult> slow;
  for (const Contest* contest : order) {
    for (const Record* record : contest->tuned) add_if_slower(slow, record, contest->native);
    add_if_slower(slow, contest->best, contest->vendor);
  }
  return slow;
}

namespace {

/// The variants of one case.
struct CaseTimes {
  const Record* first = nullptr;
  std::optional<double> best_us, native_us;
};

void add_times(CaseTimes& times, const Record& record) {
  if (times.first == nullptr) times.first = &record;
  if (!is_comparable(record)) return;
  const double median = record.times->median_us;
  times.best_us = std::min(median, times.best_us.value_or(median));
  if (record.variant == "native") times.native_us = median;
}

void add_times(NetworkTotal& total, const CaseTimes& times) {
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
    add_times(by_place[place_of(record)], record);
    const bool is_known = std::any_of(totals.begin(), totals.end(), [&](const NetworkTotal& one) {
      return one.threads == record.threads;
    });
    if (!is_known) totals.push_back({.threads = record.threads});
  }
  for (NetworkTotal& total : totals) {
    for (const auto& [place, times] : by_place) {
      if (place.second == total.threads) add_times(total, times);
    }
  }
  return totals;
}

std::string network_text(const NetworkTotal& total) {
  std::string text = fmt::format(
      "Network, {} in {} calls, {}: {} with the fastest variants, {} native; {} "
      "when profiled",
      counted(total.cases - total.untimed, "case"), total.calls, counted(total.threads, "thread"),
      time_of(total.best_us), time_of(total.native_us), time_of(total.weight_us));
  if (total.untimed > 0)
    text += fmt::format("; {} cases were not timed or are disturbed", total.untimed);
  return text;
}

}  // namespace opbench::report
