#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/check/check.h"
#include "harness/check/peer.h"
#include "harness/spec/options.h"

namespace opbench {

struct GateOptions {
  PeerProgram base, current;
  RunOptions run;   ///< what to compare, with which threads, cold or not, verified or not
  std::string isa;  ///< empty: the best
  SpeedRule rule;
  std::optional<double> fail_over_percent;
  double budget_s = 600;  ///< over all; what is left open then is AMBIGUOUS
  double sample_seconds = 0.02;
};

struct GateHooks {
  /// Before each case of a phase.
  std::function<void(const std::string& phase, std::size_t done, std::size_t total,
                     const std::string& what)>
      step;
};

/// Compares two builds: both run the same cases in processes of their own, one sample of each in
/// turn, in alternating order, so that whatever disturbs the machine disturbs both.
///
/// 1. The other build against itself: the smallest change that this machine can show now.
/// 2. Every case: both are verified; then 12 rounds. What is clearly the same is settled.
/// 3. The rest: 30 rounds in fresh processes, three in each of ten pairs, since where buffers lie
/// in
///    memory makes whole processes faster or slower; then 30 more for what is still not the same.
///    Those 60 decide.
///
/// A worker that crashes or hangs costs its case, not the check.
/// Errors: throws Error if a program cannot be started, is no worker, or refuses the selection.
CheckReport run_gate(const GateOptions& options, const GateHooks& hooks);

}  // namespace opbench
