#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/paired_times.h"
#include "harness/check/protocol.h"
#include "harness/check/statistics.h"
#include "text/program.h"

namespace opbench::check {

/// Outcome for one variant of one case, or for an operator of two profiles.
enum class ChangeVerdict {
  slower,
  faster,
  same,
  ambiguous,  ///< the measurements are not decisive
  /// NEW: only the current build or the later profile has it, or it is correct only there.
  new_,
  gone,          ///< only the baseline or the earlier profile has it
  incomparable,  ///< wrong in both, or the measurements cannot be compared
  error,         ///< wrong or failing now, or its worker was lost
};
/// Ordered by urgency.
inline constexpr std::array kAllVerdicts = {ChangeVerdict::error,        ChangeVerdict::slower,
                                            ChangeVerdict::gone,         ChangeVerdict::ambiguous,
                                            ChangeVerdict::incomparable, ChangeVerdict::new_,
                                            ChangeVerdict::faster,       ChangeVerdict::same};
/// "SLOWER", ..., "NEW", ...
std::string_view name(ChangeVerdict verdict);
/// True for `same` and `faster`, which need no action.
bool is_well(ChangeVerdict verdict);

/// Criterion for a change of speed.
struct SpeedRule {
  double threshold = 0.05;  ///< share of the baseline's time
  double floor_us = 0.05;   ///< smaller differences do not count
  /// Upper limit of the floor, as a share of the baseline's time. Without it no change of calls as
  /// short as the floor would count. Infinite: no limit.
  double most_floor_share = 0.25;

  /// The floor of a call of `base_us`, as a share.
  double floor_share(double base_us) const;
};

/// Times of the two builds, measured in pairs.
struct SpeedChange {
  /// Time of one call, for a step of a context of one of its samples. Their ratio is the median
  /// ratio of the rounds. Their geometric mean is that of the two medians.
  double base_us = 0, current_us = 0;
  double change = 0;  ///< 0.05: 5% slower; from the median log-ratio
  Interval interval;  ///< 99%, of `change`
  int rounds = 0, slower_rounds = 0;
  double sign_p = 1;      ///< of the sign test
  double adjusted_p = 1;  ///< adjusted for all comparisons
};

/// The waiver that allows a change for the worse.
struct WaivedBy {
  std::string place;  ///< "file:line"
  std::string reason, expires;
};

/// Errors that grew, and the waiver that allows it.
struct WaivedErrors {
  WaivedBy by;
  std::string evidence;
};

/// One variant of one case, or one step of a context, with one number of threads.
struct CheckedItem {
  std::string case_id, case_key;  ///< the key leaves out attributes at their defaults
  std::string case_name, variant;
  std::optional<ContextSource> context;  ///< source of the context; none: a case
  int count = 1, threads = 1;
  bool cold = false;
  bool is_first_call = false;  ///< of the first call in a process; else of repeated calls
  ChangeVerdict verdict = ChangeVerdict::ambiguous;
  bool is_regression = false;      ///< fails the check
  bool is_unfinished = false;      ///< could not be judged, for a reason that is not a verdict
  bool is_same_code = false;       ///< both builds run the same machine code; it was not timed
  bool is_too_noisy = false;       ///< it does not look slower, but noise may hide a slowdown
  bool is_error_growth = false;    ///< ERROR because errors grew; other errors cannot be waived
  std::optional<WaivedBy> waived;  ///< it would fail the check without this waiver
  std::optional<WaivedErrors> waived_errors;  ///< the remaining comparison decides the verdict
  std::string evidence;                       ///< one line
  std::string next;                           ///< the command to run next; may be empty
  std::vector<std::string> notices;
  double threshold = 0;  ///< in force
  /// The smallest change that its rounds can show, as a share. It is the A/A noise of the baseline
  /// if that was measured, else derived from their spread. None: it was not timed.
  std::optional<double> noise;
  std::optional<SpeedChange> speed;
  double same_code_us = 0;  ///< time of one call if `is_same_code`: its weight in the network
  PairedTimes times;        ///< samples behind `speed`; empty if no pairs were measured
  std::optional<Accuracy> base_accuracy, current_accuracy;
  std::string base_bits, current_bits;  ///< fingerprints of all outputs, with the accuracies
  std::optional<Conversions> base_conversions, current_conversions;
  /// Cost of the change in percent of a network that runs every case `count` times, with this
  /// variant here and the fastest variant of other cases. None for a step of a context, which is a
  /// whole network, and for a first call, which a network has once.
  std::optional<double> network_percent;
};

struct CheckReport {
  std::string command;
  std::string mode;  ///< "gate" or "watch"
  std::string base_name;
  BuildInfo base, current;
  SpeedRule rule;
  /// The smallest change that the rounds of a typical variant can show, as a share; none: no times.
  std::optional<double> noise_floor;
  std::optional<double> fail_over_percent;  ///< of the network; replaces failing on each SLOWER
  bool fails_on_ambiguous = false;
  std::vector<std::string> notices;
  std::vector<std::string> failures;  ///< that belong to no item: a worker that did not end well
  std::vector<CheckedItem> items;     ///< most urgent first
  bool was_interrupted = false;
  double seconds = 0;

  /// Cost of all SLOWER cases without a waiver, in percent of the network; each case counts by its
  /// worst variant. Or the slowdown of the slowest step of a context, if that is larger.
  double slower_percent() const;
  /// Marks regressions that depend on flags: every SLOWER if their total cost is above
  /// `fail_over_percent`, and every AMBIGUOUS if `fails_on_ambiguous`. Waived items are excluded.
  /// Call it after the waivers.
  void mark_failures();
  int count(ChangeVerdict verdict) const;
  int too_noisy() const;  ///< number of items with `is_too_noisy`
  /// 1 for a regression, or for an AMBIGUOUS if requested; else 3 if something could not be judged,
  /// or looks slower and is undecided; 4 if nothing could be judged; 5 if noise may hide a
  /// slowdown; else 0. An interrupted check is 3.
  ExitCode exit_code() const;
};

/// Short text of the reason for the exit code of `report`.
std::string outcome_text(const CheckReport& report);
/// One-line reason: the first cause and the number of further causes. Empty for exit codes 0 and 1,
/// because their report is complete.
std::string reason_text(const CheckReport& report);

/// Sets every item's share of the network, and sorts: regressions, then undecided items, by cost.
void weigh_and_sort(std::vector<CheckedItem>& items);

}  // namespace opbench::check
