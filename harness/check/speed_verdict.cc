#include "harness/check/speed_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/check/paired_times.h"
#include "harness/report/text.h"
#include "harness/run/samples.h"

namespace opbench::check {
namespace {

constexpr double kConfidence = 0.99, kSameConfidence = 0.90, kFalseDiscoveryRate = 0.05;
constexpr double kSlowerExcess = 0.15, kSameExcess = 0.10;  // shares of the pairs of processes
// The median of A/A rounds deviates by more than this many standard errors about once in 400 times.
constexpr double kErrorsOfNoise = 3;

bool is_sometimes_slower(const Tails& tails) {
  return tails.excess() >= kSlowerExcess && tails.p() <= kFalseDiscoveryRate;
}

SpeedCall with_tails(SpeedCall call, const Tails& decisive, const Tails& all) {
  if (call == SpeedCall::slower || call == SpeedCall::faster) return call;
  if (is_sometimes_slower(decisive)) return SpeedCall::sometimes_slower;
  return call == SpeedCall::same && all.excess() > kSameExcess ? SpeedCall::unclear : call;
}

// True if the last stage alone points in the same direction as all stages together.
bool is_confirmed(const PairedTimes::Stage& last, SpeedCall call, double limit) {
  const std::vector<double> ratios = log_ratios(last);
  if (ratios.empty()) return false;
  if (call == SpeedCall::sometimes_slower) {
    return tails_of(ratios, last.pair, limit, typical_of(ratios)).excess() > kSameExcess;
  }
  const Interval interval = BootstrapMedians(ratios, last.pair).interval(kConfidence);
  return call == SpeedCall::slower ? interval.low > 0 : interval.high < 0;
}

SpeedChange change_of(const PairedTimes::Stage& stage, const std::vector<double>& ratios,
                      const ChangeBounds& b) {
  SpeedChange speed;
  // The two medians may be from other rounds than the median ratio. They give the level of the
  // times, and the ratio gives the change.
  const double level = std::sqrt(median_of(stage.base_us) * median_of(stage.current_us));
  speed.base_us = level * std::exp(-b.median / 2);
  speed.current_us = level * std::exp(b.median / 2);
  speed.change = std::expm1(b.median);
  speed.interval = {std::expm1(b.wide.low), std::expm1(b.wide.high)};
  speed.rounds = static_cast<int>(ratios.size());
  speed.slower_rounds = static_cast<int>(
      std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio > 0; }));
  const std::vector<double> medians = group_medians(ratios, stage.pair);
  speed.sign_p = speed.adjusted_p = sign_test(medians.size() > 1 ? medians : ratios);
  return speed;
}

std::string speed_text(const SpeedChange& s, bool is_per_sample) {
  return fmt::format("{}, {} -> {}{}, slower in {} of {} rounds", change_text(s.change, s.interval),
                     report::time_text(s.base_us), report::time_text(s.current_us),
                     is_per_sample ? " per sample" : "", s.slower_rounds, s.rounds);
}

std::string tails_text(const Tails& tails, double limit) {
  return fmt::format("{} of {} pairs of processes slower than most by {:.3g}%, {} faster",
                     tails.slower, tails.pairs, 100 * std::expm1(limit), tails.faster);
}

// Reason for a limit above the threshold; empty if the threshold itself is the limit.
std::string limit_reason(const SpeedFinding& f, const SpeedRule& rule) {
  const bool is_noise = f.call != SpeedCall::same && std::log1p(f.noise) > f.limit;
  if (is_noise) return ", the A/A noise of the baseline";
  const double share = rule.floor_share(f.change.base_us);
  if (share <= rule.threshold) return {};
  return share < rule.most_floor_share
             ? fmt::format(", the floor of {:.3g} us", rule.floor_us)
             : fmt::format(", the limit of the floor of {:.3g} us", rule.floor_us);
}

bool is_change(SpeedCall call) { return call != SpeedCall::same && call != SpeedCall::unclear; }

// The first test of the verdict that was not passed.
std::string open_test(const SpeedFinding& f, const SpeedChange& speed, bool is_cut) {
  if (is_change(f.call)) {
    if (is_cut) return "not confirmed: the budget ended before new processes ran";
    if (!f.is_confirmed) return "not confirmed in new processes";
    return fmt::format("p = {:.2g} after the adjustment for all comparisons; at most {} is allowed",
                       speed.adjusted_p, kFalseDiscoveryRate);
  }
  const double median = std::log1p(speed.change), size = std::fabs(median);
  if (size >= f.limit && size < std::log1p(f.noise)) {
    return fmt::format("below the A/A noise of {:.3g}%", 100 * f.noise);
  }
  if (size >= f.limit) return "its 99% interval includes 0";
  if (f.all_tails.excess() > kSameExcess) return tails_text(f.all_tails, f.limit);
  return fmt::format("its 90% interval reaches beyond {:.3g}%", 100 * std::expm1(f.limit));
}

}  // namespace

double Tails::excess() const {
  return pairs == 0 ? 0 : static_cast<double>(slower - faster) / static_cast<double>(pairs);
}

double Tails::p() const {
  std::vector<double> signs(static_cast<std::size_t>(slower), 1.0);
  signs.insert(signs.end(), static_cast<std::size_t>(faster), -1.0);
  return sign_test(signs);
}

double typical_of(const std::vector<double>& log_ratios) {
  return std::max(0.0, median_of(log_ratios));
}

Tails tails_of(std::span<const double> log_ratios, std::span<const int> pairs, double limit,
               double typical) {
  Tails tails;
  for (const double median : group_medians(log_ratios, pairs)) {
    ++tails.pairs;
    tails.slower += median - typical >= limit;
    tails.faster += median - typical <= -limit;
  }
  return tails;
}

std::string change_text(double change) { return fmt::format("{:+.1f}%", 100 * change); }

std::string change_text(double change, const Interval& interval) {
  return fmt::format("{} (99%: {} to {})", change_text(change), change_text(interval.low),
                     change_text(interval.high));
}

ChangeBounds bounds_of(std::span<const double> log_ratios, std::span<const int> pairs) {
  const BootstrapMedians medians(log_ratios, pairs);
  return {median_of({log_ratios.begin(), log_ratios.end()}), medians.interval(kConfidence),
          medians.interval(kSameConfidence)};
}

ChangeBounds normal_bounds(double log_ratio, double error) {
  constexpr double kDeviationsOf99 = 2.5758, kDeviationsOf90 = 1.6449;  // two-sided
  const auto within = [&](double deviations) {
    return Interval{log_ratio - deviations * error, log_ratio + deviations * error};
  };
  return {log_ratio, within(kDeviationsOf99), within(kDeviationsOf90)};
}

SpeedRule unpaired(SpeedRule rule) {
  rule.threshold *= 2;
  return rule;
}

ChangeVerdict verdict_of(SpeedCall call) {
  if (call == SpeedCall::unclear) return ChangeVerdict::ambiguous;
  if (call == SpeedCall::same) return ChangeVerdict::same;
  return call == SpeedCall::faster ? ChangeVerdict::faster : ChangeVerdict::slower;
}

double least_change(double base_us, const SpeedRule& rule) {
  return std::max(rule.threshold, rule.floor_share(base_us));
}

SpeedCall call_of(const ChangeBounds& b, double limit, double noise) {
  const double least = std::max(limit, std::log1p(noise));
  if (b.median >= least && b.wide.low > 0) return SpeedCall::slower;
  if (b.median <= -least && b.wide.high < 0) return SpeedCall::faster;
  const bool is_inside = b.narrow.low > -limit && b.narrow.high < limit;
  return is_inside ? SpeedCall::same : SpeedCall::unclear;
}

double own_noise(const PairedTimes::Stage& stage) {
  constexpr std::size_t kLeastPairs = 3;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < stage.null_us.size(); ++i) {
    ratios.push_back(std::log(stage.null_us[i] / stage.base_us[i]));
  }
  if (ratios.empty()) return 0;
  const std::vector<double> medians = group_medians(ratios, stage.pair);
  if (medians.size() < kLeastPairs) return 0;
  const double error = median_standard_error(medians, static_cast<int>(medians.size()));
  return std::expm1(std::max(kErrorsOfNoise * error, std::fabs(median_of(medians))));
}

// With few pairs, the rounds are used instead of the pairs' medians.
double spread_noise(const PairedTimes::Stage& stage) {
  constexpr std::size_t kLeastPairs = 3;
  const std::vector<double> ratios = log_ratios(stage);
  const std::vector<double> medians = group_medians(ratios, stage.pair);
  const double error = medians.size() < kLeastPairs
                           ? median_standard_error(ratios, kVerdictRounds)
                           : median_standard_error(medians, kPairsOfProcesses);
  return std::expm1(kErrorsOfNoise * error);
}

SpeedFinding find_speed(const PairedTimes& times, const SpeedRule& rule) {
  const PairedTimes::Stage decisive = times.decisive(), all = times.all();
  const std::vector<double> ratios = log_ratios(decisive);
  const ChangeBounds b = bounds_of(ratios, decisive.pair);
  SpeedFinding f;
  f.change = change_of(decisive, ratios, b);
  f.limit = std::log1p(least_change(f.change.base_us, rule));
  f.noise = own_noise(decisive);
  f.spread = spread_noise(decisive);
  const double least = std::max(f.limit, std::log1p(f.noise));
  f.tails = tails_of(ratios, decisive.pair, least, typical_of(ratios));
  const std::vector<double> all_ratios = log_ratios(all);
  f.all_tails = tails_of(all_ratios, all.pair, f.limit, typical_of(all_ratios));
  f.call = with_tails(call_of(b, f.limit, f.noise), f.tails, f.all_tails);
  if (f.call == SpeedCall::sometimes_slower) f.change.sign_p = f.change.adjusted_p = f.tails.p();
  f.is_confirmed = is_change(f.call) && is_confirmed(times.confirmation, f.call, least);
  f.is_suspect = b.median >= f.limit || is_sometimes_slower(f.tails);
  f.looks_slower = f.is_suspect && (b.wide.low > 0 || is_sometimes_slower(f.tails));
  f.may_be_slower = b.wide.high >= f.limit || f.all_tails.excess() > kSameExcess;
  return f;
}

bool SpeedFinding::is_decided() const {
  if (call == SpeedCall::same) return true;
  return is_change(call) && is_confirmed && change.adjusted_p <= kFalseDiscoveryRate;
}

void judge_item(CheckedItem& item, const SpeedFinding& f, const SpeedRule& rule, bool is_cut) {
  const double least = least_change(f.change.base_us, rule);
  item.threshold = std::max(least, f.noise);
  item.noise = f.noise > 0 ? f.noise : f.spread;
  item.evidence = speed_text(*item.speed, item.context && !item.is_first_call);
  SpeedFinding judged = f;
  judged.change = *item.speed;
  if (f.call == SpeedCall::same) {
    item.verdict = ChangeVerdict::same;
    item.threshold = least;
    if (least > rule.threshold) {
      item.evidence +=
          fmt::format("; a change counts from {:.3g}%{}", 100 * least, limit_reason(f, rule));
    }
    return;
  }
  if (!judged.is_decided()) {
    item.verdict = ChangeVerdict::ambiguous;
    // First calls vary, and no more processes are measured for them.
    const bool is_in_noise = item.is_first_call && item.speed->change < f.noise;
    item.is_unfinished = f.looks_slower && !is_in_noise;
    item.is_too_noisy = !item.is_unfinished && f.may_be_slower;
    item.evidence += "; " + open_test(f, *item.speed, is_cut);
    return;
  }
  item.verdict = verdict_of(f.call);
  item.is_regression = item.verdict == ChangeVerdict::slower;
  if (f.call == SpeedCall::sometimes_slower)
    item.evidence += "; " + tails_text(f.tails, std::log1p(item.threshold));
  item.evidence +=
      fmt::format("; a change counts from {:.3g}%{}", 100 * item.threshold, limit_reason(f, rule));
}

}  // namespace opbench::check
