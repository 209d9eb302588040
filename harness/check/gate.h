#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/check/check.h"
#include "harness/check/compared_case.h"
#include "harness/check/worker_client.h"
#include "harness/plan/options.h"

namespace opbench::check {

struct GateOptions {
  WorkerProgram base, current;
  RunOptions run;   ///< selection, threads, --cold and --no-verify
  std::string isa;  ///< empty: the best
  SpeedRule rule;
  std::optional<double> fail_over_percent;
  bool fails_on_ambiguous = false;
  AccuracyRule accuracy;
  /// Measures the first calls of all timed variants in addition.
  bool compares_first_calls = false;
  double budget_s = 600;  ///< in total; open items are AMBIGUOUS afterwards
  double sample_seconds = 0.02;
  std::function<double()> now_s;  ///< a steady clock, in seconds; none: the system's
};

struct GateHooks {
  /// Called before each case of a phase.
  std::function<void(const std::string& phase, std::size_t done, std::size_t total,
                     const std::string& what)>
      progress;
};

/// Compares two builds. Both run the same cases in processes of their own, a sample of each in
/// turn, in alternating order, so that disturbances of the machine affect both.
///
/// 1. Screening, case by case: results are verified in both builds. A variant that runs the same
///    machine code in both and gives the same bits is SAME and is not timed. The others get 12
///    rounds over six pairs of new processes, because the placement of buffers in memory changes
///    the speed of whole processes. Clear cases of SAME are settled. Suspected slowdowns go through
///    2 and 3 before the next case, because the budget may end.
/// 2. Verdict: 30 rounds of the others in ten more pairs. Each pair has a further process of the
///    baseline (A/A control). Its noise raises the threshold of this variant.
/// 3. Confirmation: 30 more rounds of variants that are not yet SAME. These 60 rounds decide.
/// 4. First calls, if requested (first_calls.h).
/// 5. Open variants that may be slower get more pairs, the slowest first, until they are decided or
///    the budget has ended.
///
/// If the noise of a typical variant hides relevant changes, 2 to 5 run for suspected slowdowns
/// only.
///
/// Byte-identical programs are not run: all cases are SAME. A worker that crashes or hangs loses
/// its case, and the check continues.
/// Errors: throws Error if a program cannot be started, is not a worker, or refuses the selection.
CheckReport run_gate(const GateOptions& options, const GateHooks& hooks);

}  // namespace opbench::check
