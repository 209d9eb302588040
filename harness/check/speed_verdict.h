#pragma once

#include <span>

#include "harness/check/check.h"
#include "harness/check/paired_times.h"

namespace opbench::check {

/// Verdict of times before confirmation.
enum class SpeedCall { slower, sometimes_slower, faster, same, unclear };

/// A change as log-ratios: its estimate, and its 99% and 90% intervals.
struct ChangeBounds {
  double median = 0;
  Interval wide, narrow;
};
/// Bounds of the median of log(current / base) over paired rounds; at least one round. `pairs`: the
/// pair of processes of each round. Rounds of a pair are correlated, because the placement of
/// buffers changes the speed of whole processes. Empty: all from one pair.
ChangeBounds bounds_of(std::span<const double> log_ratios, std::span<const int> pairs);
/// Bounds of a normal distribution, for times that were not measured in pairs: of two runs or two
/// profiles. `error`: the standard error of `log_ratio`.
ChangeBounds normal_bounds(double log_ratio, double error);
/// `rule` for times of two runs. Its threshold is doubled, because separate processes differ more.
SpeedRule unpaired(SpeedRule rule);

/// The smallest change that counts, as a share.
double least_change(double base_us, const SpeedRule& rule);

/// Slower (or faster): the 99% interval excludes 0, and the estimate reaches `limit`, a log-ratio,
/// and `noise`, a share. Same: the 90% interval lies inside the limit (two one-sided tests at 5%).
SpeedCall call_of(const ChangeBounds& bounds, double limit, double noise = 0);
ChangeVerdict verdict_of(SpeedCall call);

/// Numbers of pairs of processes whose median is beyond the limit.
struct Tails {
  int pairs = 0, slower = 0, faster = 0;

  /// Share of slower pairs, less the share of faster pairs. Noise alone explains as many slower
  /// pairs as there are faster ones.
  double excess() const;
  /// Two-sided p of these numbers if both directions were equally likely. Exact.
  double p() const;
};
/// The log-ratio that all pairs share, at least 0. The median judges a slowdown that affects all
/// processes. Without this correction, a slowdown below the threshold would give more slower than
/// faster pairs: noise moves some pairs beyond the limit on one side only.
double typical_of(const std::vector<double>& log_ratios);

/// Tails beyond `typical`, the log-ratio that all pairs share.
Tails tails_of(std::span<const double> log_ratios, std::span<const int> pairs, double limit,
               double typical = 0);

/// Evaluation of all rounds of one variant.
struct SpeedFinding {
  /// `adjusted_p` is not yet adjusted for the other variants.
  SpeedChange change;
  /// Like `call_of`, and in addition the tails. Sometimes slower: an excess of 15% of the processes
  /// or more, and p <= 0.05. Same: only without an excess above 10%, including the screening. A
  /// slowdown that affects three of ten processes does not move the median.
  SpeedCall call = SpeedCall::unclear;
  Tails tails;        ///< of the decisive rounds, beyond the limit and the noise
  Tails all_tails;    ///< of all rounds, beyond the limit
  double limit = 0;   ///< the smallest log-ratio that counts, without noise
  double noise = 0;   ///< A/A noise of the baseline, as a share; 0: unknown
  double spread = 0;  ///< the smallest change that rounds of such spread can show, as a share
  bool is_confirmed = false;  ///< the confirmation alone agrees
  bool is_suspect = false;    ///< its estimate is a slowdown, significant or not
  /// In addition the slowdown is significant: its 99% interval excludes 0.
  bool looks_slower = false;
  bool may_be_slower = true;  ///< its 99% interval reaches the threshold, or its tails are uneven

  /// True if more rounds would not change the verdict. `adjusted_p` is included.
  bool is_decided() const;
};
SpeedFinding find_speed(const PairedTimes& times, const SpeedRule& rule);

/// A/A noise of the baseline in these rounds, as a share: three standard errors of the median over
/// pairs of processes, or the median itself if that is larger; 0 for fewer than three pairs.
double own_noise(const PairedTimes::Stage& stage);

/// The smallest change that ten pairs of processes can show with the spread of these rounds, as a
/// share: three standard errors of the median over pairs. It does not include a common shift of all
/// pairs.
double spread_noise(const PairedTimes::Stage& stage);

/// Sets verdict, evidence and `is_regression`. SLOWER and FASTER need a confirmation that shows the
/// change alone, and `item.speed->adjusted_p` <= 0.05. Undecided items are AMBIGUOUS, and their
/// evidence names the test that failed. An undecided item is unfinished if it looks slower (a first
/// call: beyond the noise), else too noisy if it may be slower. `is_cut`: the budget ended before
/// the regular rounds. `item.speed` must be set.
void judge_item(CheckedItem& item, const SpeedFinding& finding, const SpeedRule& rule, bool is_cut);

/// "+7.2%", and "+7.2% (99%: +6.5% to +8.0%)"
std::string change_text(double change);
std::string change_text(double change, const Interval& interval);

}  // namespace opbench::check
