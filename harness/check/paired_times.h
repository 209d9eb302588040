#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace opbench::check {

/// Times of one variant in pairs, by stage. Later stages use new processes.
struct PairedTimes {
  struct Stage {
    std::vector<double> base_us, current_us;
    std::vector<int> pair;  ///< of processes, numbered over all stages; empty: a single pair
    /// Times of the baseline's A/A process; empty: it did not run.
    std::vector<double> null_us;

    std::size_t size() const { return base_us.size(); }
    bool empty() const { return base_us.empty(); }
    void add(double base, double current, int pair_number);
    void append(const Stage& more);
    /// Keeps the first `rounds` rounds.
    void cut(std::size_t rounds);
  };
  Stage screening, verdict, confirmation;
  bool is_cut = false;  ///< the budget ended before all required rounds were taken

  /// Stage that decides the verdict: the later stages together if there are any, else the
  /// screening.
  Stage decisive() const;
  Stage all() const;
};
using StageMember = PairedTimes::Stage PairedTimes::*;
/// All stages in order, with their names in reports.
inline constexpr std::pair<const char*, StageMember> kStages[] = {
    {"screening", &PairedTimes::screening},
    {"verdict", &PairedTimes::verdict},
    {"confirmation", &PairedTimes::confirmation}};

/// log(current / base) of each round.
std::vector<double> log_ratios(const PairedTimes::Stage& stage);

// Rounds of the stages of a check, and their pairs of new processes (see `run_gate`). Measured with
// identical builds: 12 rounds call at most 0.5 % of equal variants slower, 30 at most 0.25 %. A
// slowdown that affects three of ten processes is missed by six pairs in 12 % of checks.
inline constexpr int kScreeningRounds = 12, kScreeningPairs = 6;
/// Length of a screening sample, as a share of a full sample. Variants that are not clearly the
/// same get full samples later.
inline constexpr double kScreeningShare = 0.25;
/// Pairs if opening a case is slow.
inline constexpr int kLeastScreeningPairs = 3;
inline constexpr int kRoundsPerPair = 3, kPairsOfProcesses = 10;
inline constexpr int kVerdictRounds = kRoundsPerPair * kPairsOfProcesses;

}  // namespace opbench::check
