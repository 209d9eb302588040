#pragma once

namespace opbench::check {

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
