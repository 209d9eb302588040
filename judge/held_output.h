#pragma once

#include <string>

#include "judge/call_under_judgement.h"
#include "judge/compare_values.h"

namespace opbench {

/// What an element may be off by, and by which share of what is expected besides.
struct AllowedError {
  double allowed = 0, share = 0;
};

/// An output held to the reference.
struct HeldOutput {
  ValueComparison found;
  std::string fault = {};  ///< empty: a right kernel may have left it
  WorstElement stray = {};
  AllowedError bound = {};
};

/// Holds an output to the standard and, where it passes, each of its elements: none may be off by
/// several times the tolerance, and of sums none by more than its own terms explain.
HeldOutput hold(const CallUnderJudgement& call, std::size_t output, bool saturates);

}  // namespace opbench
