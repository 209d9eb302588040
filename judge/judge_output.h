#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "judge/claims.h"
#include "judge/compare_values.h"
#include "kernels/kernel.h"

namespace opbench {

/// A call that was made, with its rules.
struct CallToJudge {
  const Problem& problem;
  const Kernel* kernel = nullptr;  ///< whose contract and limit hold; null: none
  std::vector<const void*> inputs = {}, outputs = {};  ///< their storage
  Maker maker = {};                                    ///< whose claims are tried
  OutputRule rule = {};
  /// Larger outputs are checked on a sample of about this number of elements (see SampledBlocks).
  std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
};

/// The call of a variant.
CallToJudge call_of(const Problem& problem, const Kernel& kernel, bool saturates);

/// The inputs of a call for a reference.
std::vector<InputReader> readers_of(const CallToJudge& call);

/// The result of judging an output.
struct JudgedOutput : ValueComparison {
  bool is_inconclusive = false;  ///< its control proves nothing
  Claim claim;  ///< that it holds under, or the first that was tried where it is wrong
  /// Elements may differ by at least this and a share of the reference. Set if the named element is
  /// wrong.
  double allowed = 0, allowed_share = 0;
};

/// Checks output `output` against the operator's reference on the actual inputs, block by block
/// without a second copy of it. The result has the same bits for any number of threads. A rounded
/// output is right if it holds under one claim (see ErrorBound); a step of an optimizer must also
/// have the expected length (see wrong_update). Other outputs must be equal; indices must name
/// equal elements. Elements outside of the variant's contract are excluded.
JudgedOutput judge_output(const CallToJudge& call, std::size_t output);

/// The reason of the kernel's known limit, if all failures in `output` are within it; otherwise
/// empty.
std::string reason_of_limit(const CallToJudge& call, std::size_t output);

}  // namespace opbench
