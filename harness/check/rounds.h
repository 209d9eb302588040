#pragma once

#include <utility>

#include "harness/check/compared_case.h"
#include "harness/check/paired_run.h"
#include "harness/check/worker_client.h"

namespace opbench::check {

/// Takes the rounds of a stage in pairs of new processes, because the placement of buffers in
/// memory changes the speed of whole processes. A worker that crashes or hangs loses its case, and
/// the check continues.
class Rounds {
 public:
  /// `null`: another process of the baseline (A/A control). All arguments must outlive this object.
  Rounds(WorkerClient& base, WorkerClient& null, WorkerClient& current, const OpenRequest& how,
         const Budget& budget, AccuracyRule accuracy)
      : base_(base),
        null_(null),
        current_(current),
        how_(how),
        budget_(budget),
        accuracy_(std::move(accuracy)) {}

  /// Opens the case in both builds, and judges accuracy and machine code. Then screens the variants
  /// that can be timed and have different code, with samples of a quarter of the length: 12 rounds
  /// over six pairs of processes, or over three if opening takes more than a second. A screening
  /// that the budget cuts is discarded, and the item is unfinished.
  void screen(ComparedCase& compared);
  /// Measures ten more pairs of processes, three rounds in each, with the A/A control of the
  /// baseline. If the budget ends, the complete pairs are kept.
  void measure(ComparedCase& compared, StageMember stage);

  /// Measures one first call of a variant in each of `pairs` pairs of new processes. After the
  /// screening the A/A control of the baseline runs too. A variant that fails is settled. The
  /// budget may end it early.
  void take_first_calls(const ComparedCase& compared, ComparedVariant& variant, StageMember stage,
                        int pairs);

 private:
  template <class Action>
  void guarded(ComparedCase& compared, Action action);
  bool take_screening_rounds(ComparedCase& compared, PairedRun& run);
  void open_in_fresh_processes(const ComparedCase& compared, PairedRun& run, bool is_screening);
  void take_first_call(const ComparedCase& compared, ComparedVariant& variant, StageMember stage,
                       bool has_null);

  WorkerClient &base_, &null_, &current_;
  const OpenRequest& how_;
  const Budget& budget_;
  const AccuracyRule accuracy_;
  int pairs_ = 0;  // of processes, so far
};

}  // namespace opbench::check
