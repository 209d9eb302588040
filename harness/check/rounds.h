#pragma once

#include <utility>

#include "harness/check/compared_case.h"
#include "harness/check/paired_run.h"
#include "harness/check/peer.h"

namespace opbench::check {

/// Takes the rounds of a stage in pairs of fresh processes, since where buffers lie in memory makes
/// whole processes faster or slower. A worker that crashes or hangs costs its case, not the check.
class Rounds {
 public:
  /// `null`: a further process of the other build. All must outlive it.
  Rounds(Peer& base, Peer& null, Peer& current, const OpenRequest& how, const Budget& budget,
         AccuracyRule accuracy)
      : base_(base),
        null_(null),
        current_(current),
        how_(how),
        budget_(budget),
        accuracy_(std::move(accuracy)) {}

  /// Opens the case in both builds and judges accuracy and machine code, then screens what can be
  /// timed and is not the same code, in samples of a quarter of the length: 12 rounds
  /// over six pairs of processes, or over three where opening takes more than a second. Part of a
  /// screening is none: what the budget cuts is unfinished.
  void screen(ComparedCase& compared);
  /// Ten more pairs of processes, three rounds in each, and the other build against itself beside.
  /// What the budget cuts has the pairs before it.
  void measure(ComparedCase& compared, StageMember stage);

  /// One first call of a variant in each of `pairs` pairs of fresh processes. After the screening
  /// the other build runs against itself beside. What fails is settled; the budget may cut.
  void take_first_calls(const ComparedCase& compared, ComparedVariant& variant, StageMember stage,
                        int pairs);

 private:
  template <class Action>
  void guarded(ComparedCase& compared, Action action);
  bool take_screening_rounds(ComparedCase& compared, PairedRun& run);
  void open_in_fresh_processes(const ComparedCase& compared, PairedRun& run, bool is_screening);
  void take_first_call(const ComparedCase& compared, ComparedVariant& variant, StageMember stage,
                       bool has_null);

  Peer &base_, &null_, &current_;
  const OpenRequest& how_;
  const Budget& budget_;
  const AccuracyRule accuracy_;
  int pairs_ = 0;  // of processes, so far
};

}  // namespace opbench::check
