#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "judge/claims.h"
#include "judge/compare_values.h"
#include "kernels/kernel.h"

namespace opbench {

/// A call that was made, and what it is judged by.
struct CallToJudge {
  const Problem& problem;
  const Kernel* kernel = nullptr;  ///< whose contract and limit hold; null: none
  std::vector<const void*> inputs = {}, outputs = {};  ///< their storage
  Maker maker = {};                                    ///< whose claims are tried
  OutputRule rule = {};
  /// Larger outputs are checked on a sample of about so many elements (see SampledBlocks).
  std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
};

/// The call of a variant.
CallToJudge call_of(const Problem& problem, const Kernel& kernel, bool saturates);

/// The inputs of a call as a reference takes them.
std::vector<InputReader> readers_of(const CallToJudge& call);

/// How an output was judged.
struct JudgedOutput : ValueComparison {
  bool is_inconclusive = false;  ///< its control proves nothing
  Claim claim;  ///< that it holds under, or the first that was tried where it is wrong
  /// Elements may differ by at least this and a share of the reference; set where the named one is
  /// wrong.
  double allowed = 0, allowed_share = 0;
};

/// Holds output `output` to the operator's reference on the inputs that it really got, block by
/// block without a second copy of it; the same bits for any number of threads. A rounded output is
/// right if it holds under one claim (see ErrorBound), and a step of an optimizer has to be as long
/// as expected, too (see wrong_update); others are right if they are equal, indices if they name
/// equal elements. What a variant does not answer for is left out.
JudgedOutput judge_output(const CallToJudge& call, std::size_t output);

/// The reason of the kernel's known limit if all that fails in `output` fails there; else empty.
std::string reason_of_limit(const CallToJudge& call, std::size_t output);

}  // namespace opbench
