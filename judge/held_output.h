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

/// Is an output in bf16 as a kernel leaves it that adds its terms up in bf16, as PyTorch does on a
/// CPU without AVX512-BF16? False for all other dtypes and where no terms are known.
///
/// With u = 2^-9, T the sum of the magnitudes of the n terms of an element and f what is expected,
/// rounding every partial sum is off by some u (T + sqrt(n) |f|) as a root mean square, whatever
/// the order. Each element may be off by 6 times that. Those whose magnitude is too large by 0.75
/// times as a root mean square: terms that are too small to be added only make a sum smaller.
bool adds_in_bf16(const CallUnderJudgement& call, std::size_t output);

}  // namespace opbench
