#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/check/speed_verdict.h"
#include "harness/check/worker_client.h"

namespace opbench::check {

/// One variant of a case, from its first sample to its verdict.
struct ComparedVariant {
  CheckedItem item;
  PairedTimes times;
  SpeedFinding finding;           ///< of the times so far
  bool is_open = false;           ///< further samples follow
  bool is_base_wrong = false;     ///< a timed call of the baseline left wrong results
  std::string code_unknown = {};  ///< why the comparison of the machine code is not possible
  /// Fingerprints of the verified results; empty: unknown.
  std::string base_results = {}, current_results = {};

  /// True if it was timed and can be judged.
  bool is_timed() const { return !times.screening.empty() && item.verdict != ChangeVerdict::error; }
  /// Settles it as ERROR.
  void fail(const std::string& why, bool is_regression);
  /// Leaves it without times, because the budget ended within its screening.
  void leave_unmeasured();
  /// Evaluates its times. Settles it if it is the same.
  void evaluate_times(const SpeedRule& rule);
};

/// Error in the results of a sample; empty: correct. `verified`: the verified results on the values
/// of `sampled.results`.
std::string results_error(const Sampled& sampled, const std::string& verified);

/// Time limit of all measurements together.
struct Budget {
  std::function<double()> now_s;  ///< a steady clock, in seconds
  double end_s = 0;

  bool is_spent() const { return now_s() > end_s; }
};

/// One case that is open in two builds, or in two processes of one build.
class PairedRun {
 public:
  PairedRun(WorkerClient& base, WorkerClient& current) : base_(base), current_(current) {}

  /// Adds another process of the baseline to every round, as an A/A control. It opens the same
  /// case; null: not any more.
  void set_null(WorkerClient* null) { null_ = null; }

  /// Errors: as `WorkerClient::open`.
  OpenReply open_base(const OpenRequest& request);  ///< in the A/A process, too
  OpenReply open_current(const OpenRequest& request);
  void close();

  /// Takes `rounds` rounds of all open variants: a sample of each process in turn, in the opposite
  /// order in every second round. Appends the times to `stage`. A variant that fails is settled as
  /// ERROR, and the others continue. Returns false if the budget ended first; the stage is
  /// unchanged then.
  bool measure(const std::vector<ComparedVariant*>& variants, StageMember stage, int rounds,
               const Budget& budget);

  /// Numbers this pair of processes, for the following rounds. All its processes use the same
  /// placement of tensors, and another one in every round.
  void set_pair(int number);

 private:
  static constexpr std::uint64_t kLayoutsPerPair = 100;  // more than the rounds of a pair

  void take_round(const std::vector<ComparedVariant*>& variants, StageMember stage,
                  bool base_first);
  void take_pair(ComparedVariant& variant, StageMember stage, bool base_first);
  static void note_wrong(ComparedVariant& variant, const std::string& base,
                         const std::string& current);
  /// Opens the case again in a lost worker, for the remaining variants.
  void recover(const std::vector<ComparedVariant*>& variants);

  WorkerClient& base_;
  WorkerClient& current_;
  WorkerClient* null_ = nullptr;
  OpenRequest base_request_, current_request_;
  int pair_ = 0;
  std::uint64_t layout_ = 1;  ///< of this round
};

}  // namespace opbench::check
