#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/check/check.h"
#include "harness/check/compared_case.h"
#include "harness/check/peer.h"
#include "harness/plan/options.h"

namespace opbench::check {

struct GateOptions {
  PeerProgram base, current;
  RunOptions run;   ///< what to compare, with which threads, cold or not, verified or not
  std::string isa;  ///< empty: the best
  SpeedRule rule;
  std::optional<double> fail_over_percent;
  bool fails_on_ambiguous = false;
  AccuracyRule accuracy;
  bool compares_first_calls = false;  ///< as well: what was timed is timed as first calls, too
  double budget_s = 600;              ///< over all; what is left open then is AMBIGUOUS
  double sample_seconds = 0.02;
  std::function<double()> now_s;  ///< a steady clock, in seconds; none: the system's
};

struct GateHooks {
  /// Before each case of a phase.
  std::function<void(const std::string& phase, std::size_t done, std::size_t total,
                     const std::string& what)>
      progress;
};

/// Compares two builds: both run the same cases in processes of their own, one sample of each in
/// turn, in alternating order, so that whatever disturbs the machine disturbs both.
///
/// 1. Screening, case by case: verified in both builds. What runs the same machine code in both and
///    leaves the same bits is the same and is not timed. The rest gets 12 rounds over six pairs of
///    fresh processes, since where buffers lie in memory makes whole processes faster or slower.
///    What is clearly the same is settled. What looks slower goes through 2 and 3 before the next
///    case: the budget may end.
/// 2. Verdict: 30 rounds of the rest in ten more pairs. With each pair runs one more process of the
///    other build: what equal code shows raises the threshold of this variant.
/// 3. Confirmation: 30 more of what is still not the same. These 60 decide.
/// 4. First calls, if wanted (first_calls.h).
/// 5. What is then open and may be slower gets more pairs, the worst first, until it is decided or
///    the budget has ended.
///
/// Where the rounds of a typical variant vary too much to show what matters, 2 to 5 are for what is
/// suspected to be slower only.
///
/// Programs that are the same file, byte for byte, are not run: all cases are the same.
/// A worker that crashes or hangs costs its case, not the check.
/// Errors: throws Error if a program cannot be started, is no worker, or refuses the selection.
CheckReport run_gate(const GateOptions& options, const GateHooks& hooks);

}  // namespace opbench::check
