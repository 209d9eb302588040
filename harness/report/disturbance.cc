#include "harness/report/disturbance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "harness/report/text.h"
#include "harness/run/record.h"

namespace opbench::report {
namespace {

// As `opbench doctor`: beyond this a regression of a few percent cannot be told from chance.
constexpr double kLargestSpread = 0.10;
constexpr double kLargestLoad = 0.5;
// The best of nine copies is a few percent faster than their median on a quiet machine.
constexpr double kLargestCopySpread = 0.25;

std::int64_t samples_of(const Times& times) {
  return static_cast<std::int64_t>(times.samples.size());
}

// Whether all samples of some milliseconds lost their core, more often than housekeeping takes it:
// calls that wait for a thread every time take equally long, and far too long.
bool is_often_preempted(const Times& times, std::int64_t count) {
  constexpr double kPerSecond = 50, kLeastSampleUs = 1000;
  double us = 0;
  for (const Sample& sample : times.samples) us += sample.duration_us;
  return us >= kLeastSampleUs * static_cast<double>(samples_of(times)) &&
         static_cast<double>(count) >= kPerSecond * us * 1e-6;
}

// The system's own housekeeping takes a core now and then, for some microseconds. It counts where
// it comes in every sample and shows in the times or comes often, or comes in crowds.
bool is_preempted(const Times& times) {
  constexpr std::int64_t kCrowd = 10;
  constexpr double kShownSpread = 0.05;
  const std::int64_t count = times.preemptions.value_or(0);
  if (count >= kCrowd * samples_of(times)) return true;
  return count >= samples_of(times) &&
         (relative_spread(times) > kShownSpread || is_often_preempted(times, count));
}

// Samples that took half as long again as the median.
std::int64_t outliers_of(const Times& times) {
  return std::count_if(times.samples.begin(), times.samples.end(), [&](const Sample& sample) {
    return sample.ns_per_call > 1.5e3 * times.median_us;
  });
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Did something take cores away, make times differ, or leave outliers?
bool is_noisy(const Times& times) {
  return is_preempted(times) || relative_spread(times) > kLargestSpread || outliers_of(times) > 0;
}

}  // namespace

std::string disturbance_text(const Record& record) {
  if (!record.times) return {};
  std::vector<std::string> signs;
  const std::int64_t outliers = outliers_of(*record.times);
  if (is_disturbed(record)) signs.emplace_back("disturbed");
  if (is_preempted(*record.times)) {
    signs.push_back(fmt::format("preempted {} times", *record.times->preemptions));
  }
  if (outliers > 0) {
    signs.push_back(fmt::format("outliers {} of {}", outliers, samples_of(*record.times)));
  }
  return fmt::format("{}", fmt::join(signs, ", "));
}

std::string disturbance_text(const RunResult& result) {
  std::int64_t timed = 0, noisy = 0, disturbed = 0, preemptions = 0;
  double spread = 0, copy = 0;
  for (const Record& record : result.records) {
    copy = std::max(copy, record.copy_spread);
    if (!record.times) continue;
    ++timed;
    noisy += is_noisy(*record.times) || is_disturbed(record);
    disturbed += is_disturbed(record);
    preemptions += record.times->preemptions.value_or(0);
    spread = std::max(spread, relative_spread(*record.times));
  }
  std::vector<std::string> signs;
  if (result.load > kLargestLoad) {
    signs.push_back(fmt::format("load {:.1f} when it began", result.load));
  }
  if (noisy > 0) {
    signs.push_back(
        fmt::format("{} of {} results noisy{}, {} preemptions, spread up to {}", noisy, timed,
                    disturbed > 0 ? fmt::format(" ({} disturbed: no ratio)", disturbed) : "",
                    preemptions, percent(spread)));
  }
  if (copy > kLargestCopySpread) {
    signs.push_back(fmt::format("copies of the same bytes differ by {}", percent(copy)));
  }
  if (signs.empty()) return {};
  return fmt::format("This machine was busy: {}. Trust ratios more than times; see opbench doctor.",
                     fmt::join(signs, "; "));
}

}  // namespace opbench::report
