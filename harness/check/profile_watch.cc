#include "harness/check/profile_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/check/statistics.h"
#include "harness/record/samples.h"

namespace opbench::check {
namespace {

constexpr double kThresholdFactor = 2;
// Of a normal distribution, two-sided 99 % and 90 %.
constexpr double kDeviationsOf99 = 2.5758, kDeviationsOf90 = 1.6449;
constexpr std::size_t kLeastSamples = 3;

/// The operators of one profile that are one operator of the comparison.
struct Side {
  std::int64_t count = 0, total_ps = 0;
  std::vector<double> us;
  std::vector<int> steps;
  std::string formats;
  const HotOperator* first = nullptr;
};

using Sides = std::map<std::string, Side>;

std::string signature_of(const HotOperator& one) {
  if (!one.has_tensors) return {};
  return fmt::format("{} {} -> {} {}", one.input_shapes, one.input_dtypes, one.output_shapes,
                     one.output_dtypes);
}

// Without a type only the name tells what a task is.
std::string key_of(const HotOperator& one) {
  return fmt::format("{}\x1f{}", one.type.empty() ? one.name : one.type, signature_of(one));
}

Sides sides_of(const std::vector<HotOperator>& operators) {
  Sides sides;
  for (const HotOperator& one : operators) {
    Side& side = sides[key_of(one)];
    side.count += one.time.count;
    add_saturated(side.total_ps, one.time.total_ps);
    for (const TaskSample& sample : one.samples) {
      side.us.push_back(in_us(sample.duration_ps));
      side.steps.push_back(static_cast<int>(sample.step));
    }
    if (side.first == nullptr) {
      side.first = &one;
      side.formats = fmt::format("{} -> {}", one.input_formats, one.output_formats);
    }
  }
  return sides;
}

// The median of each step where there are enough of them: what tasks of a step share counts once.
std::vector<double> values_of(const Side& side) {
  std::vector<double> medians = group_medians(side.us, side.steps);
  return medians.size() >= kLeastSamples ? medians : side.us;
}

void judge(const Side& before, const Side& after, const SpeedRule& rule, ProfileChange& change) {
  const std::vector<double> first = values_of(before), second = values_of(after);
  if (first.empty() || second.empty()) return;
  change.before_us = median_of(first);
  change.after_us = median_of(second);
  if (change.before_us <= 0 || change.after_us <= 0) return;
  const auto error = [](const std::vector<double>& values, double median) {
    return median_standard_error(values, static_cast<int>(values.size())) / median;
  };
  const double ratio = std::log(change.after_us / change.before_us);
  const double deviation =
      std::hypot(error(first, change.before_us), error(second, change.after_us));
  change.change = std::expm1(ratio);
  change.low = std::expm1(ratio - kDeviationsOf99 * deviation);
  change.high = std::expm1(ratio + kDeviationsOf99 * deviation);
  if (first.size() < kLeastSamples || second.size() < kLeastSamples) return;
  const double limit =
      std::log1p(std::max(kThresholdFactor * rule.threshold, rule.floor_us / change.before_us));
  if (ratio >= limit && change.low > 0) {
    change.verdict = ProfileVerdict::slower;
  } else if (ratio <= -limit && change.high < 0) {
    change.verdict = ProfileVerdict::faster;
  } else if (std::fabs(ratio) + kDeviationsOf90 * deviation < limit) {
    change.verdict = ProfileVerdict::same;
  }
}

ProfileChange change_of(const Side* before, const Side* after, const SpeedRule& rule) {
  const HotOperator& any = *(after != nullptr ? after : before)->first;
  ProfileChange change;
  change.type = any.type.empty() ? any.name : any.type;
  change.signature = signature_of(any);
  change.at = any.first;
  change.count_before = before == nullptr ? 0 : before->count;
  change.count_after = after == nullptr ? 0 : after->count;
  if (before == nullptr || after == nullptr) {
    change.verdict = before == nullptr ? ProfileVerdict::fresh : ProfileVerdict::gone;
    const Side& there = *(before == nullptr ? after : before);
    (before == nullptr ? change.after_us : change.before_us) = median_of(values_of(there));
    return change;
  }
  if (before->formats != after->formats) {
    change.formats = fmt::format("{}, now {}", before->formats, after->formats);
  }
  judge(*before, *after, rule, change);
  return change;
}

}  // namespace

std::string_view name(ProfileVerdict verdict) {
  constexpr std::string_view kNames[] = {"SLOWER", "FASTER", "SAME", "AMBIGUOUS", "NEW", "GONE"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::int64_t ProfileComparison::count(ProfileVerdict verdict) const {
  return std::count_if(changes.begin(), changes.end(),
                       [&](const ProfileChange& one) { return one.verdict == verdict; });
}

ProfileComparison compare_profiles(const IngestResult& before, const IngestResult& after,
                                   const SpeedRule& rule) {
  ProfileComparison comparison;
  comparison.before_us = in_us(before.hot_spots.computing().total_ps);
  comparison.after_us = in_us(after.hot_spots.computing().total_ps);
  const std::vector<HotOperator> first = before.hot_spots.operators();
  const std::vector<HotOperator> second = after.hot_spots.operators();
  const Sides old_sides = sides_of(first), new_sides = sides_of(second);
  const auto add = [&](const Side* old_side, const Side* new_side) {
    ProfileChange change = change_of(old_side, new_side, rule);
    // Shares of each profile, which may have different numbers of steps.
    const auto share = [](const Side* side, double whole) {
      return side == nullptr || whole <= 0 ? 0 : in_us(side->total_ps) / whole;
    };
    const double had = share(old_side, comparison.before_us);
    if (old_side != nullptr && new_side != nullptr) change.of_network = had * change.change;
    if (new_side == nullptr) change.of_network = -had;
    if (old_side == nullptr) change.of_network = share(new_side, comparison.after_us);
    comparison.changes.push_back(std::move(change));
  };
  for (const auto& [key, side] : old_sides) {
    const auto found = new_sides.find(key);
    add(&side, found == new_sides.end() ? nullptr : &found->second);
  }
  for (const auto& [key, side] : new_sides) {
    if (!old_sides.contains(key)) add(nullptr, &side);
  }
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const ProfileChange& a, const ProfileChange& b) {
                     return std::fabs(a.of_network) > std::fabs(b.of_network);
                   });
  return comparison;
}

}  // namespace opbench::check
