#include "harness/record/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kStatusNames[] = {"passed",  "failed",  "mistrusted", "suspicious",
                                             "skipped", "errored", "unverified"};

}  // namespace

std::string_view name(Status status) { return kStatusNames[static_cast<std::size_t>(status)]; }

Status parse_status(std::string_view text) {
  const auto found = std::find(std::begin(kStatusNames), std::end(kStatusNames), text);
  if (found == std::end(kStatusNames)) {
    throw Error(fmt::format("status '{}' must be one of {}", text.substr(0, 60),
                            fmt::join(kStatusNames, ", ")));
  }
  return static_cast<Status>(found - std::begin(kStatusNames));
}

void summarise_samples(Record& record) {
  if (!record.is_timed()) return;
  std::vector<double> times;
  for (const Sample& sample : record.samples) times.push_back(sample.ns_per_call / 1e3);
  const Spread spread = spread_of(times);
  record.median_us = spread.median;
  record.mad_us = spread.mad;
  record.cv = spread.cv;
  record.min_us = spread.min;
  const double per_us = spread.median > 0 ? 1 / spread.median : 0;
  record.gb_per_s = record.bytes * per_us * 1e-3;
  record.gflop_per_s = record.operations * per_us * 1e-3;
  record.gelements_per_s = record.elements * per_us * 1e-3;
  if (record.copy_gb_per_s > 0) {
    record.percent_of_copy = 100 * record.gb_per_s / record.copy_gb_per_s;
  }
}

void compare_variants(std::span<Record> records) {
  const Record* native = nullptr;
  Record* best = nullptr;
  for (Record& record : records) {
    if (!record.is_timed()) continue;
    if (record.variant == "native") native = &record;
    if (record.status == Status::suspicious) continue;
    if (best == nullptr || record.median_us < best->median_us) best = &record;
  }
  if (best != nullptr) best->is_best = true;
  if (native == nullptr) return;
  for (Record& record : records) {
    if (record.is_timed() && record.median_us > 0) {
      record.speedup_over_native = native->median_us / record.median_us;
    }
  }
}

void keep_worst(Record& record, const Stats& stats) {
  if (stats.count == 0) return;
  if (!record.is_compared) record.inside_share = 1;
  record.is_compared = true;
  record.max_ulp = std::max(record.max_ulp, stats.max_ulp);
  record.mean_ulp = std::max(record.mean_ulp, stats.mean_ulp());
  record.max_abs = std::max(record.max_abs, stats.max_abs);
  record.inside_share = std::min(record.inside_share, stats.inside_share());
  record.min_tolerance = std::max(record.min_tolerance, stats.min_tolerance);
  record.nonfinite_mismatches += stats.nonfinite_mismatches;
}

}  // namespace opbench
