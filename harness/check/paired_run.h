#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/check/peer.h"
#include "harness/check/speed_verdict.h"

namespace opbench::check {

/// One variant of a case, from its first sample to its verdict.
struct ComparedVariant {
  CheckedItem item;
  PairedTimes times;
  SpeedFinding finding;           ///< of the times so far
  bool is_open = false;           ///< still to be timed
  bool is_base_wrong = false;     ///< a timed call of the other build left wrong results
  std::string code_unknown = {};  ///< why it is not known whether both run the same machine code
  /// What verification saw, fingerprints of results; empty: not known.
  std::string base_results = {}, current_results = {};

  /// Was timed and can be judged.
  bool is_timed() const { return !times.screening.empty() && item.verdict != ChangeVerdict::error; }
  /// Settles it as ERROR.
  void fail(const std::string& why, bool is_regression);
  /// Leaves it without times, as the budget ended within its screening.
  void leave_unmeasured();
  /// Finds what its times say; what is the same is settled.
  void look_at_times(const SpeedRule& rule);
};

/// What is wrong with the results of a sample; empty: nothing. `verified`: those that verification
/// saw on the values of `sampled.results`.
std::string wrong_with(const Sampled& sampled, const std::string& verified);

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

  /// From now on another process of the other build takes a sample in every round as well: what
  /// equal code shows. It opens what that build opens; none: not any more.
  void set_null(Peer* null) { null_ = null; }

  /// Errors: as `Peer::open`.
  OpenReply open_base(const OpenRequest& request);  ///< in the other process, too
  OpenReply open_current(const OpenRequest& request);
  void close();

  /// Takes `rounds` rounds of all variants that are open: one sample of each process in turn, and
  /// in every second round the other way round. Appends the times to `stage`. A variant that fails
  /// is settled as ERROR, and the others go on. Returns false if the budget ended first; the stage
  /// is then as it was before.
  bool measure(const std::vector<ComparedVariant*>& variants, StageMember stage, int rounds,
               const Budget& budget);

  /// Numbers this pair of processes, for the rounds that follow. All its processes place their
  /// tensors alike, and in every round elsewhere.
  void set_pair(int number);

 private:
  static constexpr std::uint64_t kLayoutsPerPair = 100;  // more than a pair has rounds

  void take_round(const std::vector<ComparedVariant*>& variants, StageMember stage,
                  bool base_first);
  void take_pair(ComparedVariant& variant, StageMember stage, bool base_first);
  static void note_wrong(ComparedVariant& variant, const std::string& base,
                         const std::string& current);
  /// Opens the case again in a worker that was lost, for the variants that are left.
  void recover(const std::vector<ComparedVariant*>& variants);

  Peer& base_;
  Peer& current_;
  Peer* null_ = nullptr;
  OpenRequest base_request_, current_request_;
  int pair_ = 0;
  std::uint64_t layout_ = 1;  ///< of this round
};

}  // namespace opbench::check
