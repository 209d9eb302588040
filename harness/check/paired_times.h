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

}  // namespace opbench::check
