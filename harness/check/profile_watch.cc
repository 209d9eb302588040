#include "harness/check/profile_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/check/speed_verdict.h"
#include "harness/check/statistics.h"
#include "harness/run/samples.h"
#include "profiles/profiled_tensor.h"

namespace opbench::check {
namespace {

constexpr std::size_t kLeastSamples = 3;
constexpr double kFalseDiscoveries = 0.01;  // false discovery rate of the reported changes

/// Operators of one profile that are one operator of the comparison.
struct Side {
  std::int64_t count = 0, total_ps = 0;
  std::vector<double> us;
  std::vector<int> steps;
  const HotOperator* first = nullptr;
};

using Sides = std::map<std::string, Side>;

std::string signature_of(const HotOperator& one) {
  if (!one.has_tensors) return {};
  return fmt::format("{} {} -> {} {}", one.input_shapes, one.input_dtypes, one.output_shapes,
                     one.output_dtypes);
}

// Without a type only the name identifies the kind of task.
const std::string& type_of(const HotOperator& one) {
  return one.type.empty() || one.has_kernel_name ? one.name : one.type;
}

std::string operator_key(const HotOperator& one) {
  return fmt::format("{}\x1f{}", type_of(one), signature_of(one));
}

Sides sides_of(const std::vector<HotOperator>& operators) {
  Sides sides;
  for (const HotOperator& one : operators) {
    Side& side = sides[operator_key(one)];
    side.count += one.time.count;
    add_saturated(side.total_ps, one.time.total_ps);
    for (const TaskSample& sample : one.samples) {
      side.us.push_back(in_us(sample.duration_ps));
      side.steps.push_back(static_cast<int>(sample.step));
    }
    if (side.first == nullptr) side.first = &one;
  }
  return sides;
}

// Medians of the steps if there are enough steps: tasks of a step share disturbances and count
// once. Else the single times.
std::vector<double> values_of(const Side& side) {
  std::vector<double> medians = group_medians(side.us, side.steps);
  return medians.size() >= kLeastSamples ? medians : side.us;
}

// p of the hypothesis that two samples are from one distribution. The test of the means has power
// for few values. The test of the ranks is robust against outliers. The smaller p is doubled
// (Bonferroni).
double p_of_equal(const std::vector<double>& first, const std::vector<double>& second) {
  const auto logs = [](std::vector<double> values) {
    for (double& value : values) value = std::log(std::max(value, 1e-6));
    return values;
  };
  const std::vector<double> a = logs(first), b = logs(second);
  return std::min(1.0, 2 * std::min(welch_test(a, b), rank_sum_test(a, b)));
}

void judge(const Side& before, const Side& after, const SpeedRule& rule, ProfileChange& change) {
  const std::vector<double> first = values_of(before), second = values_of(after);
  change.has_few = first.size() < kLeastSamples || second.size() < kLeastSamples;
  if (first.empty() || second.empty()) return;
  change.before_us = median_of(first);
  change.after_us = median_of(second);
  if (change.before_us <= 0 || change.after_us <= 0) return;
  const auto error = [](const std::vector<double>& values, double median) {
    return median_standard_error(values, static_cast<int>(values.size())) / median;
  };
  const ChangeBounds bounds =
      normal_bounds(std::log(change.after_us / change.before_us),
                    std::hypot(error(first, change.before_us), error(second, change.after_us)));
  change.change = std::expm1(bounds.median);
  change.interval = {std::expm1(bounds.wide.low), std::expm1(bounds.wide.high)};
  if (change.has_few) return;
  change.p = p_of_equal(first, second);
  change.verdict = verdict_of(call_of(bounds, std::log1p(least_change(change.before_us, rule))));
}

ProfileChange change_of(const Side* before, const Side* after, const SpeedRule& rule) {
  const HotOperator& any = *(after != nullptr ? after : before)->first;
  ProfileChange change;
  change.type = type_of(any);
  change.signature = signature_of(any);
  change.at = any.first;
  change.count_before = before == nullptr ? 0 : before->count;
  change.count_after = after == nullptr ? 0 : after->count;
  if (before == nullptr || after == nullptr) {
    change.verdict = before == nullptr ? ChangeVerdict::new_ : ChangeVerdict::gone;
    const Side& there = *(before == nullptr ? after : before);
    (before == nullptr ? change.after_us : change.before_us) = median_of(values_of(there));
    return change;
  }
  if (before->first->input_formats != after->first->input_formats ||
      before->first->output_formats != after->first->output_formats) {
    change.formats = StoredOperator(*before->first).changed_to(StoredOperator(*after->first));
  }
  if (signature_of(*before->first) != change.signature) {
    change.signature_before = signature_of(*before->first);
  }
  judge(*before, *after, rule, change);
  return change;
}

// Among many operators some differ by chance. These become AMBIGUOUS.
void adjust_for_all(std::vector<ProfileChange>& changes) {
  std::vector<ProfileChange*> judged;
  std::vector<double> p;
  for (ProfileChange& one : changes) {
    if (one.count_before == 0 || one.count_after == 0) continue;
    judged.push_back(&one);
    p.push_back(one.p);
  }
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    ProfileChange& one = *judged[i];
    one.adjusted_p = adjusted[i];
    const bool is_told =
        one.verdict == ChangeVerdict::slower || one.verdict == ChangeVerdict::faster;
    if (is_told && one.adjusted_p > kFalseDiscoveries) one.verdict = ChangeVerdict::ambiguous;
  }
}

/// Operators of the later profile only, by their properties other than formats.
class OtherFormats {
 public:
  explicit OtherFormats(const std::vector<const Side*>& fresh) {
    for (const Side* side : fresh) {
      StoredOperator stored(*side->first);
      const std::string kind = stored.kind();
      by_kind_[kind].push_back({side, std::move(stored)});
    }
  }

  // Finds and removes the operator that stores the tensors of `old_side` in other formats; null:
  // not found. It examines a limited number of candidates, so that the time is linear in the size
  // of profiles.
  const Side* take(const Side& old_side) {
    const StoredOperator stored(*old_side.first);
    const auto kind = by_kind_.find(stored.kind());
    if (kind == by_kind_.end()) return nullptr;
    constexpr std::size_t kMost = 256;
    std::vector<Candidate>& all = kind->second;
    for (std::size_t i = 0; i < std::min(kMost, all.size()); ++i) {
      if (!stored.is_same_as(all[i].stored)) continue;
      const Side* found = all[i].side;
      if (i + 1 < all.size()) all[i] = std::move(all.back());
      all.pop_back();
      return found;
    }
    return nullptr;
  }

 private:
  struct Candidate {
    const Side* side;
    StoredOperator stored;
  };
  std::map<std::string, std::vector<Candidate>> by_kind_;
};

/// An operator of both profiles, or of one; null: missing.
using SidePair = std::pair<const Side*, const Side*>;

std::vector<SidePair> pairs_of(const Sides& old_sides, const Sides& new_sides) {
  std::vector<SidePair> pairs;
  std::vector<const Side*> fresh;
  for (const auto& [key, side] : new_sides) {
    if (!old_sides.contains(key)) fresh.push_back(&side);
  }
  OtherFormats others(fresh);
  std::set<const Side*> taken;
  for (const auto& [key, side] : old_sides) {
    const auto found = new_sides.find(key);
    const Side* other = found == new_sides.end() ? others.take(side) : &found->second;
    taken.insert(other);
    pairs.emplace_back(&side, other);
  }
  for (const Side* side : fresh) {
    if (!taken.contains(side)) pairs.emplace_back(nullptr, side);
  }
  return pairs;
}

// Number of runs of the network in the later profile for one run in the earlier: by their steps,
// else by the calls of their common operators.
double runs_for_one(const IngestResult& first, const IngestResult& second,
                    const std::vector<SidePair>& pairs) {
  const TaskOrder &old_order = first.hot_spots.order(), &new_order = second.hot_spots.order();
  if (old_order.has_steps() && new_order.has_steps() && old_order.steps() > 0) {
    return static_cast<double>(new_order.steps()) / static_cast<double>(old_order.steps());
  }
  double before = 0, after = 0;
  for (const auto& [old_side, new_side] : pairs) {
    if (old_side == nullptr || new_side == nullptr) continue;
    before += static_cast<double>(old_side->count);
    after += static_cast<double>(new_side->count);
  }
  return before > 0 && after > 0 ? after / before : 1;
}

}  // namespace

std::int64_t ProfileComparison::count(ChangeVerdict verdict) const {
  return std::count_if(changes.begin(), changes.end(),
                       [&](const ProfileChange& one) { return one.verdict == verdict; });
}

std::int64_t ProfileComparison::common() const {
  return std::ssize(changes) - count(ChangeVerdict::new_) - count(ChangeVerdict::gone);
}

bool ProfileComparison::is_of_two_networks() const {
  const std::int64_t smaller =
      common() + std::min(count(ChangeVerdict::new_), count(ChangeVerdict::gone));
  return 2 * common() < smaller;
}

bool can_compare(const IngestResult& profile) {
  return profile.hot_spots.computing().count > 0 || profile.trace.host_operators > 0;
}

ProfileComparison compare_profiles(const IngestResult& before, const IngestResult& after,
                                   const SpeedRule& rule) {
  ProfileComparison comparison;
  comparison.before_us = in_us(before.hot_spots.computing().total_ps);
  comparison.after_us = in_us(after.hot_spots.computing().total_ps);
  const std::vector<HotOperator> first = before.hot_spots.operators();
  const std::vector<HotOperator> second = after.hot_spots.operators();
  const Sides old_sides = sides_of(first), new_sides = sides_of(second);
  const std::vector<SidePair> pairs = pairs_of(old_sides, new_sides);
  comparison.runs = runs_for_one(before, after, pairs);
  for (const auto& [old_side, new_side] : pairs) {
    ProfileChange change = change_of(old_side, new_side, unpaired(rule));
    const auto share = [&](const Side* side) {
      return comparison.before_us <= 0 ? 0 : in_us(side->total_ps) / comparison.before_us;
    };
    change.of_network = old_side == nullptr   ? share(new_side) / comparison.runs
                        : new_side == nullptr ? -share(old_side)
                                              : share(old_side) * change.change;
    comparison.changes.push_back(std::move(change));
  }
  adjust_for_all(comparison.changes);
  comparison.host = compare_hosts(before.trace, after.trace);
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const ProfileChange& a, const ProfileChange& b) {
                     return std::fabs(a.of_network) > std::fabs(b.of_network);
                   });
  return comparison;
}

}  // namespace opbench::check
