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

/// The outcome for one variant of one case, or for an operator between two profiles.
enum class ChangeVerdict {
  slower,
  faster,
  same,
  ambiguous,     ///< what was measured decides neither way
  new_,          ///< NEW: only this build, or the later profile, has it, or only here it is right
  gone,          ///< only the other build, or the earlier profile, has it
  incomparable,  ///< wrong in both, or measured in ways that cannot be compared
  error,         ///< wrong or failing now, or its worker was lost
};
/// In the order of what needs action first.
inline constexpr std::array kAllVerdicts = {ChangeVerdict::error,        ChangeVerdict::slower,
                                            ChangeVerdict::gone,         ChangeVerdict::ambiguous,
                                            ChangeVerdict::incomparable, ChangeVerdict::new_,
                                            ChangeVerdict::faster,       ChangeVerdict::same};
/// "SLOWER", ..., "NEW", ...
std::string_view name(ChangeVerdict verdict);
/// Nothing to act on: the same or faster.
bool is_well(ChangeVerdict verdict);

/// What counts as a change of speed.
struct SpeedRule {
  double threshold = 0.05;  ///< share of the other build's time
  double floor_us = 0.05;   ///< smaller differences count for nothing
  /// Share of the other build's time that the floor comes to at most: of calls as short as the
  /// floor itself nothing would count. Infinite: the floor is wanted as it is.
  double most_floor_share = 0.25;

  /// What the floor comes to of a call of `base_us`, as a share.
  double floor_share(double base_us) const;
};

/// Times of one build against those of the other, in pairs.
struct SpeedChange {
  /// Of one call; of a step of one sample. Their ratio is the median ratio of the rounds, and their
  /// geometric mean that of both medians.
  double base_us = 0, current_us = 0;
  double change = 0;  ///< 0.05: 5% slower; from the median log-ratio
  Interval interval;  ///< 99%, of `change`
  int rounds = 0, slower_rounds = 0;
  double sign_p = 1;      ///< of the sign test
  double adjusted_p = 1;  ///< over all that was measured
};

/// The waiver that lets a change for the worse pass.
struct WaivedBy {
  std::string place;  ///< "file:line"
  std::string reason, expires;
};

/// Errors that grew, and the waiver that lets them.
struct WaivedErrors {
  WaivedBy by;
  std::string evidence;
};

/// One variant of one case, or one step of a context, with one number of threads.
struct CheckedItem {
  std::string case_id, case_key;  ///< the key leaves out attributes at their defaults
  std::string case_name, variant;
  std::optional<ContextSource> context;  ///< where the context stands; none: a case
  int count = 1, threads = 1;
  bool cold = false;
  bool is_first_call = false;  ///< of the first call in a process; else of calls that repeat
  ChangeVerdict verdict = ChangeVerdict::ambiguous;
  bool is_regression = false;      ///< fails the check
  bool is_unfinished = false;      ///< could not be judged for a reason that is no verdict
  bool is_same_code = false;       ///< both builds run the same machine code; it was not timed
  bool is_too_noisy = false;       ///< it does not look slower, and noise hides whether it is
  bool is_error_growth = false;    ///< ERROR as the errors grew; what else is wrong has no waiver
  std::optional<WaivedBy> waived;  ///< it would fail the check without
  std::optional<WaivedErrors> waived_errors;  ///< while it is judged by what else there is
  std::string evidence;                       ///< one line
  std::string next;                           ///< the command to run next; empty: none
  std::vector<std::string> notices;
  double threshold = 0;  ///< in force
  /// The smallest change that its rounds can show, as a share: by the other build against itself
  /// where that ran beside, else by their spread. None: it was not timed.
  std::optional<double> noise;
  std::optional<SpeedChange> speed;
  double same_code_us = 0;  ///< of one call, where `is_same_code`: its weight in the network
  PairedTimes times;        ///< what `speed` was made of; empty where nothing was taken in turn
  std::optional<Accuracy> base_accuracy, current_accuracy;
  std::string base_bits, current_bits;  ///< fingerprints of all outputs, beside the accuracies
  std::optional<Conversions> base_conversions, current_conversions;
  /// What the change costs, in percent of a network that runs every case `count` times: this
  /// variant here, the fastest elsewhere. None for a step of a context, the whole itself, and for a
  /// first call, which a network has once.
  std::optional<double> network_percent;
};

struct CheckReport {
  std::string command;
  std::string mode;  ///< "gate" or "watch"
  std::string base_name;
  BuildInfo base, current;
  SpeedRule rule;
  /// The smallest change that the rounds of a typical variant can show, as a share; none: nothing
  /// was timed.
  std::optional<double> noise_floor;
  std::optional<double>
      fail_over_percent;  ///< of the network; instead of each SLOWER failing alone
  bool fails_on_ambiguous = false;
  std::vector<std::string> notices;
  std::vector<std::string> failures;  ///< that are of no item: a worker that did not end well
  std::vector<CheckedItem> items;     ///< what needs action first
  bool was_interrupted = false;
  double seconds = 0;

  /// What all SLOWER cases that are not waived cost, in percent of the network, of a case the worst
  /// variant; or what the slowest step of a context lost, if that is more.
  double slower_percent() const;
  /// Makes regressions of what fails the check only together or by a flag: of every SLOWER where
  /// they cost more than `fail_over_percent`, of every AMBIGUOUS where these fail, but for what is
  /// waived. After the waivers.
  void mark_failures();
  int count(ChangeVerdict verdict) const;
  int too_noisy() const;  ///< how many items are
  /// 1 for a regression, and for an AMBIGUOUS where asked, else 3 if something could not be judged
  /// or looks slower and is not decided, 4 if nothing could be judged, 5 if noise hides whether
  /// something is slower, else 0. An interrupted check is 3.
  ExitCode exit_code() const;
};

/// Why `report` has its exit code, in a few words.
std::string outcome_text(const CheckReport& report);
/// The same in one line for who has to act: the first cause and how many more there are. Empty for
/// exit codes 0 and 1, whose report says all.
std::string reason_text(const CheckReport& report);

/// Sets every item's share of the network, and sorts: what fails the check, then what is open, by
/// harm.
void weigh_and_sort(std::vector<CheckedItem>& items);

}  // namespace opbench::check
