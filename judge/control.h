#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "judge/judge_output.h"

namespace opbench {

/// The error of a whole output against the reference.
struct OutputError {
  std::int64_t elements = 0;                        ///< whose reference is finite
  std::int64_t nonfinite = 0;                       ///< of them NaN or Inf
  double error_squares = 0, reference_squares = 0;  ///< sums of squares
  double largest_error = 0, largest_reference = 0;

  void add(double actual, double reference);
  /// The Euclidean norm of the error over that of the reference; 0 if both are 0.
  double relative() const;
};

/// The rule of PyTorch's verifiers for fused kernels. The control is a plain composition in the
/// same dtype on the same inputs. The error may be at most twice that of the control, plus one
/// rounding of the result. For u the unit roundoff of `dtype` and e the reference, as norms:
/// ||a-e|| <= 2 ||c-e|| + 2u ||e||, and max|a-e| <= 2 max|c-e| + 2u max|e|. `inconclusive`, which
/// is mistrusted, if the control proves nothing: fewer than 16 elements, NaN or Inf in the control,
/// or a relative error above 0.1. Messages call the control `name`.
Judgement judge_by_control(const OutputError& error, const OutputError& control, DType dtype,
                           std::string_view name = "native");

/// The error of a tensor that was measured against its golden tensor, which is the reference.
OutputError output_error(const PairStats& stats);

/// Compares the measured output `output` of a call with its control, the variant `native`, which
/// runs here in one thread. Memory: the outputs once more. Inconclusive if `native` does not
/// support the problem.
void hold_to_control(const CallToJudge& call, std::size_t output, JudgedOutput& found);

}  // namespace opbench
