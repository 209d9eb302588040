#include "harness/run/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "tensor/error.h"
#include "text/fitted.h"

namespace opbench {
namespace {

constexpr std::string_view kBoundNames[] = {"", "memory", "compute", "latency"};
constexpr std::string_view kStatusNames[] = {"passed",  "failed",  "mistrusted", "suspicious",
                                             "skipped", "errored", "unverified", "xfailed"};

}  // namespace

std::string_view name(Status status) { return kStatusNames[static_cast<std::size_t>(status)]; }

Status parse_status(std::string_view text) {
  const auto found = std::find(std::begin(kStatusNames), std::end(kStatusNames), text);
  if (found == std::end(kStatusNames)) {
    throw Error(fmt::format("status '{}' must be one of {}", excerpt(text, 60),
                            fmt::join(kStatusNames, ", ")));
  }
  return static_cast<Status>(found - std::begin(kStatusNames));
}

std::string_view name(Bound bound) { return kBoundNames[static_cast<std::size_t>(bound)]; }

void set_times(Record& record, std::vector<Sample> samples) {
  record.times.reset();
  if (samples.empty()) return;
  std::vector<double> us, launch_us;
  for (const Sample& sample : samples) {
    us.push_back(sample.ns_per_call / 1e3);
    launch_us.push_back(sample.launch_ns_per_call / 1e3);
  }
  const Spread spread = spread_of(std::move(us));
  const double per_us = spread.median > 0 ? 1 / spread.median : 0;
  Times& times = record.times.emplace();
  times.preemptions = 0;
  for (const Sample& sample : samples) *times.preemptions += sample.preemptions;
  times.samples = std::move(samples);
  times.median_us = spread.median;
  times.mad_us = spread.mad;
  times.cv = spread.cv;
  times.min_us = spread.min;
  times.launch_us = median_of(std::move(launch_us));
  times.gb_per_s = record.bytes * per_us * 1e-3;
  times.gflop_per_s = record.operations * per_us * 1e-3;
  times.gelements_per_s = record.elements * per_us * 1e-3;
  if (record.copy_gb_per_s > 0) {
    times.percent_of_copy = 100 * times.gb_per_s / record.copy_gb_per_s;
  }
  if (record.bound != Bound::unknown) {
    times.percent_of_roofline = 100 * least_us(record) * per_us;
  }
}

std::int64_t Times::throttled() const {
  return std::count_if(samples.begin(), samples.end(),
                       [](const Sample& sample) { return sample.is_throttled; });
}

double least_us(const Record& record) {
  const double moving = record.copy_gb_per_s > 0 ? record.bytes / record.copy_gb_per_s * 1e-3 : 0;
  const double computing =
      record.peak_gflop_per_s > 0 ? record.operations / record.peak_gflop_per_s * 1e-3 : 0;
  return std::max(moving, computing);
}

void set_bound(Record& record, bool is_latency) {
  const bool is_computed =
      record.peak_gflop_per_s > 0 &&
      record.operations * record.copy_gb_per_s > record.bytes * record.peak_gflop_per_s;
  if (record.copy_gb_per_s <= 0)
    record.bound = Bound::unknown;
  else if (is_computed)
    record.bound = Bound::compute;
  else
    record.bound = is_latency ? Bound::latency : Bound::memory;
}

void judge_rates(Record& record) {
  // A smaller call takes no longer than the start of its threads.
  constexpr double kLeastBytes = 1 << 20;
  if (!record.times || record.status != Status::passed) return;
  const Times& times = *record.times;
  if (record.bytes >= kLeastBytes && times.percent_of_copy > kSuspiciousPercent) {
    record.status = Status::suspicious;
    record.reason = fmt::format("{:.0f}% of the fastest copy; no more than {:.0f}% can be real",
                                times.percent_of_copy, kSuspiciousPercent);
  } else if (times.percent_of_roofline > kCeilingPercent && record.reason.empty()) {
    record.reason = fmt::format(
        "{:.0f}% of the roofline: the ceiling was measured too low, or less is moved "
        "than is counted",
        times.percent_of_roofline);
  }
}

void compare_variants(std::span<Record> records) {
  const Record* native = nullptr;
  Record* best = nullptr;
  for (Record& record : records) {
    if (!is_comparable(record)) continue;
    if (record.variant == "native") native = &record;
    if (record.status == Status::suspicious) continue;
    if (best == nullptr || record.times->median_us < best->times->median_us) best = &record;
  }
  if (best != nullptr) best->is_best = true;
  if (native == nullptr) return;
  for (Record& record : records) {
    if (is_comparable(record) && record.times->median_us > 0) {
      record.times->speedup_over_native = native->times->median_us / record.times->median_us;
    }
  }
}

bool is_unexpected_pass(const Record& record) {
  return record.status == Status::failed && record.reason.starts_with(kUnexpectedPass);
}

void keep_worst(std::optional<Accuracy>& accuracy, const PairStats& stats, std::int64_t elements) {
  if (stats.count == 0) return;
  if (!accuracy) accuracy.emplace();
  Accuracy& worst = *accuracy;
  worst.max_ulp = std::max(worst.max_ulp, stats.max_ulp);
  worst.mean_ulp = std::max(worst.mean_ulp, stats.mean_ulp());
  worst.max_abs = std::max(worst.max_abs, stats.worst_abs.error);
  worst.inside_share = std::min(worst.inside_share, stats.inside_share());
  const double verified = double(stats.count) / double(std::max(elements, stats.count));
  worst.verified_share = std::min(worst.verified_share, verified);
  worst.min_tolerance = std::max(worst.min_tolerance, stats.tolerance_of_all());
  worst.nonfinite_mismatches += stats.nonfinite_mismatches();
}

namespace {

// Outliers can be recognised only among more than two samples.
constexpr std::ptrdiff_t kLeastSamples = 3;

// Undisturbed samples of a loop agree within some percent. The frequency of a core changes by less
// than this factor.
bool is_far_above_best(const Times& times) {
  constexpr double kFar = 2;
  return times.median_us > kFar * times.min_us;
}

// If another program holds the core of a thread, the other threads spin until the next tick of the
// scheduler. A call then takes 4, 8 or 12 ms, in every sample.
bool is_whole_ticks(const Times& times) {
  constexpr double kTickUs = 4000;  // HZ=250, the default of most distributions' kernels
  constexpr double kNearUs = 400;   // includes the time of the call itself
  const auto count = std::ssize(times.samples);
  if (times.preemptions.value_or(0) < count) return false;
  const auto whole = std::count_if(times.samples.begin(), times.samples.end(), [](const Sample& s) {
    const double us = s.ns_per_call / 1e3;
    return us > kTickUs - kNearUs && std::abs(std::remainder(us, kTickUs)) <= kNearUs;
  });
  return 4 * whole >= 3 * count;
}

}  // namespace

bool is_disturbed(const Times& times) {
  if (std::ssize(times.samples) < kLeastSamples) return false;
  return is_far_above_best(times) || is_whole_ticks(times);
}

bool is_disturbed(const Record& record) { return record.times && is_disturbed(*record.times); }

bool is_comparable(const Record& record) { return record.is_timed() && !is_disturbed(record); }

std::string benchmark_name(std::string_view case_id, std::string_view variant, int threads,
                           bool is_cold) {
  return fmt::format("{}{}{}/threads:{}{}", case_id, variant.empty() ? "" : "/", variant, threads,
                     is_cold ? "/cold" : "");
}

std::string benchmark_name(const Record& record) {
  return benchmark_name(record.case_id, record.variant, record.threads, record.cold);
}

std::vector<std::string> benchmark_names(std::span<const Record> records) {
  std::map<std::string, std::set<std::string>> isas;
  for (const Record& record : records) isas[benchmark_name(record)].insert(record.isa);
  std::vector<std::string> names;
  for (const Record& record : records) {
    std::string name = benchmark_name(record);
    if (isas[name].size() > 1) name += fmt::format("/isa:{}", record.isa);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace opbench
