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

}  // namespace opbench
