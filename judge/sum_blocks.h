#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "judge/call_under_judgement.h"

namespace opbench {

/// Some elements of an output that are sums, in logical order.
struct SumBlock {
  ElementRange range;
  std::span<const double> actual, expected;
  std::span<const double> terms;  ///< the sum of the magnitudes of what each element adds up
};

/// Hands an output of a call that adds up over to `look`, block by block. Returns false, and hands
/// nothing over, where the operator's terms are not known.
bool for_each_sum_block(const CallUnderJudgement& call, std::size_t output,
                        const std::function<void(const SumBlock&)>& look);

/// Is an output in bf16 as a kernel leaves it that adds its terms up in bf16, as PyTorch does on a
/// CPU without AVX512-BF16? False for all other dtypes and where no terms are known.
///
/// With u = 2^-9, T the sum of the magnitudes of the n terms of an element and f what is expected,
/// rounding every partial sum is off by some u (T + sqrt(n) |f|) as a root mean square, whatever
/// the order. Each element may be off by 6 times that. Those whose magnitude is too large by 0.75
/// times as a root mean square: terms that are too small to be added only make a sum smaller.
bool adds_in_bf16(const CallUnderJudgement& call, std::size_t output);

}  // namespace opbench
