#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/check/peer.h"
#include "harness/check/verdict.h"

namespace opbench::check {

/// One variant of a case, from its first sample to its verdict.
struct ComparedVariant {
  Item item;
  PairedTimes times;
  bool is_open = false;  ///< still to be timed

  /// Settles it as ERROR.
  void fail(const std::string& why, bool is_regression);
};

/// The time that all measuring together may take.
struct Budget {
  std::function<double()> now_s;  ///< a steady clock, in seconds
  double end_s = 0;

  bool is_spent() const { return now_s() > end_s; }
};

/// One case that is open in two builds, or in two processes of one.
class PairedRun {
 public:
  PairedRun(Peer& base, Peer& current) : base_(base), current_(current) {}

  /// Errors: as `Peer::open`.
  OpenReply open_base(const OpenRequest& request);
  OpenReply open_current(const OpenRequest& request);
  void close();

  /// Takes `rounds` rounds of all variants that are open: one sample of each build in turn, and the
  /// other build first in every second round. Appends the times to `stage`. A variant that fails is
  /// settled as ERROR, and the others go on.
  /// Returns false if the budget ended first; the stage is then as it was before.
  bool measure(const std::vector<ComparedVariant*>& variants, StageMember stage, int rounds,
               const Budget& budget);

  /// Numbers this pair of processes, for the rounds that follow.
  void set_pair(int number) { pair_ = number; }

 private:
  void take_round(const std::vector<ComparedVariant*>& variants, StageMember stage,
                  bool base_first);
  void take_pair(ComparedVariant& variant, StageMember stage, bool base_first);
  /// Opens the case again in a worker that was lost, for the variants that are left.
  void recover(const std::vector<ComparedVariant*>& variants);

  Peer& base_;
  Peer& current_;
  OpenRequest base_request_, current_request_;
  int pair_ = 0;
};

}  // namespace opbench::check
