#pragma once

namespace opbench::check {

// How many rounds the stages of a check take (see `run_gate`). Measured on identical builds: 12
// rounds call at most 0.5 % of equal variants slower, 30 at most 0.25 %.
inline constexpr int kScreeningRounds = 12, kVerdictRounds = 30, kPairsOfProcesses = 10;

}  // namespace opbench::check
