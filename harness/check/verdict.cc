#include "harness/check/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/record/samples.h"
#include "harness/report/text.h"
#include "harness/spec/case_filter.h"
#include "text/program_name.h"
#include "text/shell_quoted.h"

namespace opbench::check {
namespace {

constexpr double kConfidence = 0.99, kSameConfidence = 0.90, kFalseDiscoveryRate = 0.05;
constexpr double kErrorFactor = 1.5, kErrorUlps = 1;

struct Bounds {
  double median = 0;
  Interval wide, narrow;
};

Bounds bounds_of(std::span<const double> log_ratios, std::span<const int> pairs) {
  const BootstrapMedians medians(log_ratios, pairs);
  return {median_of({log_ratios.begin(), log_ratios.end()}), medians.interval(kConfidence),
          medians.interval(kSameConfidence)};
}

void append(std::vector<double>& values, const std::vector<double>& more) {
  values.insert(values.end(), more.begin(), more.end());
}

// Does the last stage on its own point the way that all stages together do?
bool is_confirmed(const PairedTimes& times, SpeedCall call) {
  const std::vector<double> last = log_ratios(times.confirmation);
  if (last.empty()) return false;
  const Interval interval = BootstrapMedians(last, times.confirmation.pair).interval(kConfidence);
  return call == SpeedCall::slower ? interval.low > 0 : interval.high < 0;
}

/// The log-ratio from which on a change counts.
double limit_of(double base_us, const SpeedRule& rule) {
  return std::log1p(std::max(rule.threshold, rule.floor_us / base_us));
}

// Intervals shrink with the square root of the rounds.
std::string rounds_needed(std::span<const double> ratios, std::span<const int> pairs,
                          double limit) {
  const Bounds b = bounds_of(ratios, pairs);
  const double size = std::fabs(b.median);
  const bool is_change = size >= limit;
  const double room = is_change ? size : limit - size;
  const Interval& interval = is_change ? b.wide : b.narrow;
  const double half = (interval.high - interval.low) / 2;
  const double rounds = static_cast<double>(ratios.size()) * (half / room) * (half / room);
  constexpr double kMost = 2000;
  if (!(rounds <= kMost)) return "no practical number of rounds would decide";
  return fmt::format("about {:.0f} rounds would decide",
                     std::max(std::ceil(rounds), static_cast<double>(ratios.size()) + 1));
}

std::string speed_text(const SpeedChange& s, bool is_per_sample) {
  return fmt::format("{} (99%: {} to {}), {} -> {}{}, slower in {} of {} rounds",
                     change_text(s.change), change_text(s.interval.low),
                     change_text(s.interval.high), report::time_text(s.base_us),
                     report::time_text(s.current_us), is_per_sample ? " per sample" : "",
                     s.slower_rounds, s.rounds);
}

bool is_right(const OpenedVariant* variant) {
  return variant != nullptr &&
         (variant->status == Status::passed || variant->status == Status::mistrusted ||
          variant->status == Status::suspicious || variant->status == Status::unverified);
}

bool is_absent(const OpenedVariant* variant) {
  return variant == nullptr || variant->status == Status::skipped;
}

std::string state_text(const OpenedVariant* variant) {
  if (variant == nullptr) return "not there";
  return variant->reason.empty() ? std::string(name(variant->status))
                                 : fmt::format("{} ({})", name(variant->status), variant->reason);
}

bool settle(Item& item, Verdict verdict, std::string evidence, bool is_regression) {
  item.verdict = verdict;
  item.evidence = std::move(evidence);
  item.is_regression = is_regression;
  return false;
}

bool compare_errors(Item& item, const OpenedVariant& base, const OpenedVariant& current) {
  if (base.status == Status::passed && current.status == Status::mistrusted) {
    item.notices.push_back(fmt::format("passed before, now {}", state_text(&current)));
  }
  if (!base.accuracy || !current.accuracy) return true;
  item.base_accuracy = base.accuracy;
  item.current_accuracy = current.accuracy;
  item.base_bits = base.bits;
  item.current_bits = current.bits;
  if (base.bits != current.bits) {
    item.notices.push_back("the results are no longer the same bits");
  }
  const double allowed = kErrorFactor * base.accuracy->max_ulp + kErrorUlps;
  if (current.accuracy->max_ulp <= allowed) return true;
  return settle(item, Verdict::error,
                fmt::format("its largest error grew from {:.4g} to {:.4g} ULP; up to {:.4g} are "
                            "allowed",
                            base.accuracy->max_ulp, current.accuracy->max_ulp, allowed),
                true);
}

}  // namespace

std::string change_text(double change) { return fmt::format("{:+.1f}%", 100 * change); }

SpeedCall judge_speed(std::span<const double> log_ratios, double base_us, const SpeedRule& rule,
                      std::span<const int> pairs) {
  const Bounds b = bounds_of(log_ratios, pairs);
  const double limit = limit_of(base_us, rule);
  if (b.median >= limit && b.wide.low > 0) return SpeedCall::slower;
  if (b.median <= -limit && b.wide.high < 0) return SpeedCall::faster;
  const bool is_inside = b.narrow.low > -limit && b.narrow.high < limit;
  return is_inside ? SpeedCall::same : SpeedCall::unclear;
}

void PairedTimes::Stage::add(double base, double current, int pair_number) {
  base_us.push_back(base);
  current_us.push_back(current);
  pair.push_back(pair_number);
}

void PairedTimes::Stage::cut(std::size_t rounds) {
  base_us.resize(rounds);
  current_us.resize(rounds);
  pair.resize(rounds);
}

PairedTimes::Stage PairedTimes::decisive() const {
  if (verdict.empty()) return screening;
  Stage all = verdict;
  append(all.base_us, confirmation.base_us);
  append(all.current_us, confirmation.current_us);
  all.pair.insert(all.pair.end(), confirmation.pair.begin(), confirmation.pair.end());
  return all;
}

std::vector<double> log_ratios(const PairedTimes::Stage& stage) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < stage.base_us.size(); ++i) {
    ratios.push_back(std::log(stage.current_us[i] / stage.base_us[i]));
  }
  return ratios;
}

SpeedChange summarise(const PairedTimes& times) {
  const PairedTimes::Stage stage = times.decisive();
  const std::vector<double> ratios = log_ratios(stage);
  const Bounds b = bounds_of(ratios, stage.pair);
  SpeedChange speed;
  speed.base_us = median_of(stage.base_us);
  speed.current_us = median_of(stage.current_us);
  speed.change = std::expm1(b.median);
  speed.interval = {std::expm1(b.wide.low), std::expm1(b.wide.high)};
  speed.rounds = static_cast<int>(ratios.size());
  speed.slower_rounds = static_cast<int>(
      std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio > 0; }));
  const std::vector<double> medians = group_medians(ratios, stage.pair);
  speed.sign_p = speed.adjusted_p = sign_test(medians.size() > 1 ? medians : ratios);
  return speed;
}

void judge_item(Item& item, const PairedTimes& times, const SpeedRule& rule) {
  const PairedTimes::Stage stage = times.decisive();
  const std::vector<double> ratios = log_ratios(stage);
  const SpeedCall call = judge_speed(ratios, item.speed->base_us, rule, stage.pair);
  item.threshold = rule.threshold;
  item.evidence = speed_text(*item.speed, item.context.has_value());
  if (call == SpeedCall::same) {
    item.verdict = Verdict::same;
    return;
  }
  const bool is_change = call != SpeedCall::unclear;
  if (is_change && is_confirmed(times, call) && item.speed->adjusted_p <= kFalseDiscoveryRate) {
    item.verdict = call == SpeedCall::slower ? Verdict::slower : Verdict::faster;
    item.is_regression = call == SpeedCall::slower;
    item.evidence += fmt::format("; it counts from {:.3g}%", 100 * rule.threshold);
    return;
  }
  item.verdict = Verdict::ambiguous;
  item.is_unfinished = times.is_cut;
  item.evidence += times.is_cut ? (is_change ? "; the budget ended before it could be confirmed"
                                             : "; the budget ended before it was decided")
                   : is_change
                       ? "; not confirmed in fresh processes"
                       : fmt::format("; {}", rounds_needed(ratios, stage.pair,
                                                           limit_of(item.speed->base_us, rule)));
}

bool judge_conversions(Item& item, const OpenedVariant& base, const OpenedVariant& current) {
  item.base_conversions = base.conversions;
  item.current_conversions = current.conversions;
  if (!base.conversions || !current.conversions) return true;
  std::vector<std::string> more, less;
  const auto compare = [&](std::string_view what, double before, double now) {
    if (now == before) return;
    (now > before ? more : less).push_back(fmt::format("{:.0f} {}, was {:.0f}", now, what, before));
  };
  const Conversions &a = *base.conversions, &b = *current.conversions;
  compare("TransData", a.trans_data, b.trans_data);
  compare("bytes of TransData", a.trans_data_bytes, b.trans_data_bytes);
  compare("Cast", a.casts, b.casts);
  compare("copies", a.copies, b.copies);
  for (std::string& text : less) item.notices.push_back(std::move(text));
  if (more.empty()) return true;
  return settle(item, Verdict::error, fmt::format("converts more: {}", fmt::join(more, "; ")),
                true);
}

namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// What selects the item.
Words selection_flags(const Item& item) {
  if (!item.context) return {"--case", item.case_key};
  const ContextSource& context = *item.context;
  Words words = {"--cases", context.file, "--filter", pattern_of_name(context.name)};
  for (const auto& [symbol, value] : context.symbols) {
    append(words, {"--set", fmt::format("{}={}", symbol, value)});
  }
  append(words, {"--dtype", std::string(name(context.dtype))});
  return words;
}

}  // namespace

std::string next_command(const Item& item, const std::string& base,
                         const std::vector<std::string>& how) {
  if (item.verdict == Verdict::same || item.verdict == Verdict::faster) return {};
  const bool is_speed = item.verdict == Verdict::slower || item.verdict == Verdict::ambiguous;
  Words words = {item.verdict == Verdict::gone ? base : program_name()};
  if (is_speed) append(words, {"check", "--against", base});
  append(words, selection_flags(item));
  if (!item.variant.empty()) append(words, {"--variant", item.variant});
  append(words, {"--threads", fmt::format("{}", item.threads)});
  append(words, how);
  return shell_line(words);
}

bool judge_accuracy(Item& item, const OpenedVariant* base, const OpenedVariant* current) {
  if (is_right(base) && is_right(current)) return compare_errors(item, *base, *current);
  if (is_absent(current)) {
    return settle(
        item, Verdict::gone,
        fmt::format("{} in the other build, here {}", state_text(base), state_text(current)),
        is_right(base));
  }
  if (is_right(current)) {
    return settle(
        item, Verdict::new_,
        fmt::format("{} in the other build, here {}", state_text(base), state_text(current)),
        false);
  }
  if (is_right(base)) {
    return settle(item, Verdict::error,
                  fmt::format("lost its verdict: {} in the other build, here {}", state_text(base),
                              state_text(current)),
                  true);
  }
  if (is_absent(base)) {
    return settle(item, Verdict::new_, fmt::format("new, and {}", state_text(current)), false);
  }
  item.is_unfinished = current->status == Status::errored;
  return settle(item, item.is_unfinished ? Verdict::error : Verdict::incomparable,
                fmt::format("not timed: {} in the other build, here {}", state_text(base),
                            state_text(current)),
                false);
}

}  // namespace opbench::check
