#pragma once

#include <span>

#include "harness/check/check.h"
#include "harness/check/paired_times.h"

namespace opbench::check {

/// The verdict of times before anything is confirmed.
enum class SpeedCall { slower, sometimes_slower, faster, same, unclear };

/// A change as log-ratios: the best guess, and its 99% and 90% intervals.
struct ChangeBounds {
  double median = 0;
  Interval wide, narrow;
};
/// Those of the median of log(current / base) of rounds in turn; at least one. `pairs`: which pair
/// of processes each comes from; where buffers lie makes whole processes faster or slower, so that
/// the rounds of a pair agree too well. Empty: all from one pair.
ChangeBounds bounds_of(std::span<const double> log_ratios, std::span<const int> pairs);
/// Those of a normal distribution, for times that did not take turns: of two runs or two profiles.
/// `error`: the standard error of `log_ratio`.
ChangeBounds normal_bounds(double log_ratio, double error);
/// `rule` for such times: its threshold is doubled, since different processes differ more.
SpeedRule unpaired(SpeedRule rule);

/// The share from which on a change counts.
double least_change(double base_us, const SpeedRule& rule);

/// Slower (or faster): the 99% interval excludes 0, and the best guess reaches `limit`, a
/// log-ratio, and `noise`, a share. Same: the 90% interval lies inside the limit (two one-sided
/// tests at 5%).
SpeedCall call_of(const ChangeBounds& bounds, double limit, double noise = 0);
ChangeVerdict verdict_of(SpeedCall call);

/// Pairs of processes whose median is beyond what a change counts from.
struct Tails {
  int pairs = 0, slower = 0, faster = 0;

  /// The share of pairs that are slower beyond those that noise explains: as many as are faster.
  double excess() const;
  /// Two-sided p of so many on one side if both were equally likely. Exact.
  double p() const;
};
/// The log-ratio that all pairs show, 0 if that is below. What is slower in every process alike is
/// for the median to judge: of a slowdown below the threshold, noise puts some pairs beyond it and
/// none on the other side.
double typical_of(const std::vector<double>& log_ratios);

/// Beyond `typical`, the log-ratio that all pairs show.
Tails tails_of(std::span<const double> log_ratios, std::span<const int> pairs, double limit,
               double typical = 0);

/// What all rounds of one variant say.
struct SpeedFinding {
  /// `adjusted_p` is not yet adjusted for the other variants.
  SpeedChange change;
  /// As `call_of`, with the tails, too. Sometimes slower: 15% of the processes or more, beyond
  /// those that are faster, and p <= 0.05. The same only without an excess above 10%, the screening
  /// counted in: a slowdown that meets three processes in ten does not move the median.
  SpeedCall call = SpeedCall::unclear;
  Tails tails;        ///< of what decides, beyond the limit and the noise
  Tails all_tails;    ///< of all rounds, beyond the limit
  double limit = 0;   ///< the log-ratio that a change counts from, without noise
  double noise = 0;   ///< what the other build shows against itself, as a share; 0: not known
  double spread = 0;  ///< the smallest change that rounds of such spread can show, as a share
  bool is_confirmed = false;  ///< the confirmation on its own says so, too
  bool is_suspect = false;    ///< the best guess is that it is slower, sure or not
  bool looks_slower = false;  ///< so it is, and not by chance: its 99% interval excludes 0
  bool may_be_slower = true;  ///< its 99% interval reaches the threshold, or its tails are uneven

  /// Nothing that more rounds could change; `adjusted_p` counts.
  bool is_decided() const;
};
SpeedFinding find_speed(const PairedTimes& times, const SpeedRule& rule);

/// What the other build shows against itself in these rounds, as a share: three standard errors of
/// the median over pairs of processes, or the median itself; 0 where fewer than three pairs say so.
double own_noise(const PairedTimes::Stage& stage);

/// What ten pairs of processes can show of a variant whose rounds vary as these do, as a share:
/// three standard errors of the median over pairs. A change of the whole is not in it.
double spread_noise(const PairedTimes::Stage& stage);

/// Sets verdict, evidence and whether it is a regression: SLOWER and FASTER only if the
/// confirmation shows it on its own and it survives the adjustment for many comparisons
/// (`item.speed->adjusted_p` <= 0.05). What is not decided is AMBIGUOUS and names the test that it
/// failed. It is unfinished while it looks slower (a first call: beyond the noise), and else too
/// noisy where it may be slower. `is_cut`: the budget ended before the rounds that every verdict
/// has. `item.speed` must be set.
void judge_item(CheckedItem& item, const SpeedFinding& finding, const SpeedRule& rule, bool is_cut);

/// "+7.2%", and "+7.2% (99%: +6.5% to +8.0%)"
std::string change_text(double change);
std::string change_text(double change, const Interval& interval);

}  // namespace opbench::check
