#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/paired_run.h"

namespace opbench::check {

/// One case with one number of threads, and its variants in both builds.
struct ComparedCase {
  ListedCase spec;                 ///< of the current build, or of the only build that lists it
  std::optional<ListedCase> base;  ///< of the baseline; none: it does not list the case
  /// The baseline did not list its cases and may not have this one.
  bool base_may_refuse = false;
  bool is_in_current = true;
  int threads = 1;
  std::vector<ComparedVariant> variants;
  std::vector<ComparedVariant> first_calls;  ///< of variants, if requested

  std::vector<ComparedVariant*> open_variants();
  /// Settles open variants as ERROR, or the whole case if it has no variants yet.
  void fail(const std::string& why);
  /// Settles the unopened case as a single SAME: both builds are the same program.
  void settle_as_same();
  /// Leaves the whole case as a single AMBIGUOUS that was not measured.
  void skip(const std::string& why);
};

/// Cases of both builds, those of the current build first, each with every number of threads. A
/// baseline that cannot read the selection is asked for each case; `notices` reports this.
/// Errors: throws WorkerError if the current build refuses the selection.
std::vector<ComparedCase> collect_cases(WorkerClient& base, WorkerClient& current,
                                        const RunOptions& options,
                                        std::vector<std::string>& notices);

/// Requests to the baseline or to the current build for the case. `how` has the measuring options.
OpenRequest base_request(const ComparedCase& compared, OpenRequest how);
OpenRequest current_request(const ComparedCase& compared, OpenRequest how);

/// Criterion for results.
struct AccuracyRule {
  bool is_strict = false;  ///< as in `judge_accuracy`
  /// Finds the waiver that allows the grown errors of an ERROR. None: nothing is waived.
  std::function<std::optional<WaivedBy>(const CheckedItem&)> waiver_of_errors = {};
};

/// Opens the case in both builds and judges accuracy. Variants that can be timed stay open,
/// including those with waived errors.
/// Errors: as `WorkerClient::open`.
void open_in_both(ComparedCase& compared, PairedRun& run, const OpenRequest& how,
                  const AccuracyRule& rule);

// The following concerns all comparisons together.

/// A larger spread hides changes that matter.
inline constexpr double kLargestNoise = 0.10;

/// The smallest change that the rounds of a typical variant can show: the median over all timed
/// variants, by the spread of their screening. None: no variant was timed.
std::optional<double> typical_noise(const std::vector<ComparedCase>& cases);

/// Sets `adjusted_p` of all findings for the number of comparisons. Findings that are the same do
/// not count as discoveries, even if their small change is certain.
void adjust_for_all(std::vector<ComparedCase>& cases);

/// Adds a notice with the number of undecided items if the budget ended.
void note_budget(const std::vector<CheckedItem>& items, double budget_s,
                 std::vector<std::string>& notices);

}  // namespace opbench::check
