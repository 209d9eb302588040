#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/paired_run.h"

namespace opbench::check {

/// One case with one number of threads, and its variants in both builds.
struct ComparedCase {
  ListedCase spec;                 ///< as this build lists it, or the only one that does
  std::optional<ListedCase> base;  ///< as the other build lists it; none: it does not
  bool base_may_refuse = false;    ///< whether the other build has the case is not known
  bool is_in_current = true;
  int threads = 1;
  std::vector<ComparedVariant> variants;
  std::vector<ComparedVariant> first_calls;  ///< of variants, where they are wanted

  std::vector<ComparedVariant*> open_variants();
  /// Settles what is open, or the case where nothing is known of it, as ERROR.
  void fail(const std::string& why);
  /// Settles the case, which was not opened, as one SAME: both builds are the same program.
  void settle_as_same();
  /// Leaves the whole case as one AMBIGUOUS that nobody looked at.
  void skip(const std::string& why);
};

/// The cases of both builds, those of this one first, each with every number of threads. An other
/// build that cannot read the selection is asked case by case, which `notices` says.
/// Errors: throws PeerError if this build refuses the selection.
std::vector<ComparedCase> collect_cases(Peer& base, Peer& current, const RunOptions& options,
                                        std::vector<std::string>& notices);

/// What asks the other build, or this one, for the case; `how` says how to measure.
OpenRequest base_request(const ComparedCase& compared, OpenRequest how);
OpenRequest current_request(const ComparedCase& compared, OpenRequest how);

/// How results are judged.
struct AccuracyRule {
  bool is_strict = false;  ///< as of `judge_accuracy`
  /// The waiver that lets the errors of an ERROR grow as they did; none: there are no waivers.
  std::function<std::optional<WaivedBy>(const CheckedItem&)> waiver_of_errors = {};
};

/// Opens the case in both builds and judges accuracy; variants that can be timed are left open,
/// those with errors that are waived among them. Errors: as `Peer::open`.
void open_in_both(ComparedCase& compared, PairedRun& run, const OpenRequest& how,
                  const AccuracyRule& rule);

// What is said of all that was compared together.

/// A spread above this hides what anyone would want to know.
inline constexpr double kLargestNoise = 0.10;

/// The smallest change that the rounds of a typical variant can show, by the spread of its
/// screening: the median over all that were timed. None: nothing was.
std::optional<double> typical_noise(const std::vector<ComparedCase>& cases);

/// Sets `adjusted_p` of all findings for the number of comparisons. What is already the same is no
/// discovery, however sure its small change is.
void adjust_for_all(std::vector<ComparedCase>& cases);

/// Says in a notice how much the end of the budget left undecided, if it did.
void note_budget(const std::vector<CheckedItem>& items, double budget_s,
                 std::vector<std::string>& notices);

}  // namespace opbench::check
