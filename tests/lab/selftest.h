#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/run/record.h"
#include "tests/lab/cheats.h"

namespace opbench {

struct SelftestOptions {
  /// True: all cheats on 10 operators x 3 sizes, and every variant with 20 seeds. False: 3 x 2, and
  /// 2 seeds.
  bool is_adversarial = false;
  int threads = 1;
};

/// Result of one cheat.
struct CheatRow {
  const Cheat* cheat = nullptr;
  int tried = 0;  ///< runs in which it cheated
  int caught = 0;
  std::map<std::string, int> by;    ///< number of detections by check
  std::vector<std::string> missed;  ///< cases in which no check detected it
};

/// A correct kernel that was reported as wrong, or could not be judged.
struct Accusation {
  std::string case_id, variant, status, reason;
};

struct SelftestResult {
  std::vector<std::string> cases;  ///< cases that the cheats ran on
  std::vector<CheatRow> cheats;
  int variants = 0, seeds = 0, honest_runs = 0;
  /// Variants that model a defective operator of the device, and fail like it.
  std::vector<std::string> defective;
  std::vector<Accusation> accusations;
  bool was_interrupted = false;

  bool is_all_well() const;
};

/// Returns the check that found a record wrong: "verification", "repetition", "skipped call",
/// "timed result", "input", "guard zones", "exception". Empty if no check did.
std::string caught_by(const Record& record);

/// Runs cheating and correct kernels in the pipeline of every run. `progress` receives the runs
/// done, the total and the current run.
SelftestResult run_selftest(const SelftestOptions& options,
                            const std::function<void(std::size_t done, std::size_t total,
                                                     const std::string& what)>& progress);

}  // namespace opbench
