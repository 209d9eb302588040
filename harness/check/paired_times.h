#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace opbench::check {

/// Times of one variant in pairs, by stage. Later stages are taken in fresh processes.
struct PairedTimes {
  struct Stage {
    std::vector<double> base_us, current_us;
    std::vector<int> pair;  ///< of processes, numbered over all stages; empty: one
    /// Of the other build once more, in a process of its own; empty: it did not run.
    std::vector<double> null_us;

    std::size_t size() const { return base_us.size(); }
    bool empty() const { return base_us.empty(); }
    void add(double base, double current, int pair_number);
    void append(const Stage& more);
    /// Leaves the first `rounds`.
    void cut(std::size_t rounds);
  };
  Stage screening, verdict, confirmation;
  bool is_cut = false;  ///< the budget ended before all the rounds that it needs were taken

  /// What the verdict rests on: the later stages together where there are any, else the screening.
  Stage decisive() const;
  Stage all() const;
};
using StageMember = PairedTimes::Stage PairedTimes::*;
/// All of them in the order in which they are taken, as reports name them.
inline constexpr std::pair<const char*, StageMember> kStages[] = {
    {"screening", &PairedTimes::screening},
    {"verdict", &PairedTimes::verdict},
    {"confirmation", &PairedTimes::confirmation}};

/// log(current / base) of each round.
std::vector<double> log_ratios(const PairedTimes::Stage& stage);

// How many rounds the stages of a check take, and in how many pairs of fresh processes (see
// `run_gate`). Measured on identical builds: 12 rounds call at most 0.5 % of equal variants slower,
// 30 at most 0.25 %. What meets three processes in ten is missed by six pairs in 12 % of checks.
inline constexpr int kScreeningRounds = 12, kScreeningPairs = 6;
/// Length of a sample of the screening, as a share: what is not clearly the same gets whole ones.
inline constexpr double kScreeningShare = 0.25;
/// Where opening a case takes long.
inline constexpr int kLeastScreeningPairs = 3;
inline constexpr int kRoundsPerPair = 3, kPairsOfProcesses = 10;
inline constexpr int kVerdictRounds = kRoundsPerPair * kPairsOfProcesses;

}  // namespace opbench::check
