#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "judge/compare_values.h"
#include "kernels/kernel.h"

namespace opbench {

/// A call that was made, and what it is judged by.
struct CallToJudge {
  const Problem& problem;
  const Kernel& kernel;                      ///< whose contract, limit and tolerance hold
  std::vector<const void*> inputs, outputs;  ///< their storage
  /// fp16 outputs are the largest finite value where the reference has Inf, 0 where it has NaN.
  bool saturates = false;
  /// Larger outputs are checked on a sample of about so many elements (see SampledBlocks).
  std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
};

/// What a relative change of the inputs as large as the roundings of a kernel, which computes in
/// fp32, makes of an output: as the scale of which the standard allows as much (see
/// condition_scale).
double scale_of_condition(const CallToJudge& what, std::size_t output);

/// Compares output `output` with the operator's reference on the inputs that it really got, block
/// by block without a second copy of it. The same bits for any number of threads. The `mixed`
/// standard's absolute part follows the scale of the output (see Magnitudes) where that is below 1.
/// If it would fail, it follows the terms' (see scale_of_condition), which may cancel; above 1 only
/// where elements are mixed. What intermediate results explain passes then, too (see
/// RoundingSlack). A step of an optimizer has to be as long as expected, too (see wrong_update).
ValueComparison judge_output(const CallToJudge& what, std::size_t output);

/// The reason of the kernel's known limit if all that fails in `output` fails there; else empty.
std::string reason_of_limit(const CallToJudge& what, std::size_t output);

/// The element that is off by most, of those that neither the variant's contract nor intermediate
/// results explain; `scale`: of the comparison.
WorstElement worst_unexplained(const CallToJudge& what, std::size_t output, double scale);

}  // namespace opbench
