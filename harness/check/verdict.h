#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/check/check.h"

namespace opbench::check {

/// What paired times say before anything is confirmed.
enum class SpeedCall { slower, faster, same, unclear };

/// Slower (or faster): the 99% interval of the median log-ratio excludes 0, the median reaches the
/// threshold and the difference the floor. Same: the 90% interval lies inside these limits (two
/// one-sided tests at 5%).
/// `log_ratios`: log(current / base) of each round; at least one. `pairs`: which pair of processes
/// each comes from; where buffers lie makes whole processes faster or slower, so that the rounds of
/// a pair agree too well. Empty: all from one pair.
SpeedCall judge_speed(std::span<const double> log_ratios, double base_us, const SpeedRule& rule,
                      std::span<const int> pairs = {});

/// Times of one variant in pairs, by stage. Later stages are taken in fresh processes.
struct PairedTimes {
  struct Stage {
    std::vector<double> base_us, current_us;
    std::vector<int> pair;  ///< of processes, numbered over all stages; empty: one

    std::size_t size() const { return base_us.size(); }
    bool empty() const { return base_us.empty(); }
    void add(double base, double current, int pair_number);
    /// Leaves the first `rounds`.
    void cut(std::size_t rounds);
  };
  Stage screening, verdict, confirmation;
  bool is_cut = false;  ///< the budget ended before all the rounds that it needs were taken

  /// What the verdict rests on: the later stages together where there are any, else the screening.
  Stage decisive() const;
};
using StageMember = PairedTimes::Stage PairedTimes::*;
std::vector<double> log_ratios(const PairedTimes::Stage& stage);

/// The figures of what decides. The sign test is over pairs of processes where there are several.
SpeedChange summarise(const PairedTimes& times);

/// Sets verdict, evidence and whether it is a regression from the times: SLOWER and FASTER only if
/// the confirmation shows it on its own and it survives the adjustment for many comparisons
/// (`adjusted_p` <= 0.05). What the budget cut and its rounds do not decide is unfinished.
/// `item.speed` must be set.
void judge_item(Item& item, const PairedTimes& times, const SpeedRule& rule);

/// What both builds made of one variant; null: the build does not have it.
/// Returns false if the item is settled and has no times to compare. Sets notices as well.
bool judge_accuracy(Item& item, const OpenedVariant* base, const OpenedVariant* current);

/// What a step of a context converts and copies in both builds, exactly: more of anything is a
/// regression, whatever the times say. Returns false if the item is settled. Less is a notice.
bool judge_conversions(Item& item, const OpenedVariant& base, const OpenedVariant& current);

/// The command to run next, quoted for a shell: `base` is the other build's program, `how` further
/// flags. Empty where there is nothing to do.
std::string next_command(const Item& item, const std::string& base,
                         const std::vector<std::string>& how);

/// "+7.2%"
std::string change_text(double change);

}  // namespace opbench::check
