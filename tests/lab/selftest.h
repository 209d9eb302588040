#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/run/record.h"
#include "tests/lab/cheats.h"

namespace opbench {

struct SelftestOptions {
  /// All cheats over 10 operators x 3 sizes and every variant with 20 seeds; else over 3 x 2, and
  /// with 2 seeds.
  bool is_adversarial = false;
  int threads = 1;
};

/// What became of one cheat.
struct CheatRow {
  const Cheat* cheat = nullptr;
  int tried = 0;  ///< runs in which it cheated
  int caught = 0;
  std::map<std::string, int> by;    ///< check -> how often that caught it
  std::vector<std::string> missed;  ///< cases in which nothing did
};

/// An honest kernel that was called wrong, or could not be judged.
struct Accusation {
  std::string case_id, variant, status, reason;
};

struct SelftestResult {
  std::vector<std::string> cases;  ///< that the cheats ran on
  std::vector<CheatRow> cheats;
  int variants = 0, seeds = 0, honest_runs = 0;
  /// Variants that stand for an operator of the device with a defect, and fail as it does.
  std::vector<std::string> defective;
  std::vector<Accusation> accusations;
  bool was_interrupted = false;

  bool is_all_well() const;
};

/// The check that found a record wrong: "verification", "repetition", "skipped call", "timed
/// result", "input", "guard zones", "exception". Empty if none did.
std::string caught_by(const Record& record);

/// Lets kernels cheat, and honest ones run, in the same pipeline as every run. `progress` gets the
/// runs done, those in all and what runs.
SelftestResult run_selftest(const SelftestOptions& options,
                            const std::function<void(std::size_t done, std::size_t total,
                                                     const std::string& what)>& progress);

}  // namespace opbench
