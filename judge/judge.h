#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "judge/pair_stats.h"
#include "judge/standard.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace opbench {

/// `mistrusted` is a pass that proves little: no elements, constant, mostly zeros, no finite
/// values. `unread`: both sides have data, but it could not be read.
enum class Verdict { passed, failed, mistrusted, not_compared, unread };

/// "passed", "failed", "mistrusted", "not compared", "unread".
std::string_view name(Verdict verdict);

/// True if values were compared.
inline bool is_compared(Verdict verdict) {
  return verdict != Verdict::not_compared && verdict != Verdict::unread;
}

struct Judgement {
  Verdict verdict = Verdict::passed;
  /// One line with the deciding number. If an element is wrong, it also has the worst element's
  /// index and both values. Empty for a plain pass.
  std::string reason;
};

/// Properties of the judged tensor in addition to its values.
struct JudgedTensor {
  const Dims& shape;
  DType dtype;
};

/// Checks two tensors, measured with `standard.tolerance`, against `standard`, which must not be a
/// cross-check.
Judgement judge(const PairStats& stats, const Standard& standard, const JudgedTensor& tensor);

/// Elements that are NaN, or else Inf, on one side only.
struct NonfiniteCounts {
  std::int64_t nan = 0, inf = 0;
};

/// "2 NaN and 1 Inf on one side only, first at [3]: NaN, expected 1".
std::string nonfinite_text(const NonfiniteCounts& counts, const WorstElement& first,
                           const JudgedTensor& tensor);

/// The verdict on a tensor without a wrong element: `mistrusted` if that proves little.
Judgement passed(const PairStats& stats);

/// The element that the reason names if two tensors fail `standard`. It is the first NaN or Inf on
/// one side only, with an error of 0, else the worst element that violates the rule. Index -1:
/// there is no such element.
WorstElement named_element(const PairStats& stats, const Standard& standard);

/// The rule for a pair of that scale, as a formula of its elements a (actual) and e (expected).
std::string formula(const Standard& standard, double scale);

/// The ratios of two devices' errors, both against the same golden values.
struct CrossCheck {
  double mare = 0, mere = 0, rmse = 0;  ///< ratios, NPU over GPU
  Judgement judgement;
};

/// Compares the NPU's errors with the GPU's; both were measured with `standard.tolerance`. `tensor`
/// is the NPU's. The GPU's relative errors count as at least `standard.rounding`, its rmse as at
/// least that part of the golden values' root mean square. Without a rounding, results must equal
/// the golden values.
CrossCheck judge_cross_check(const PairStats& npu, const PairStats& gpu, const Standard& standard,
                             const JudgedTensor& tensor);

/// Place of an element in a tensor of `shape`: "[0,3,1]", "[]" for a scalar.
std::string index_text(const Dims& shape, std::int64_t element);

/// A value in the format of reasons: nine digits, "NaN" without a sign.
std::string value_text(double value);

}  // namespace opbench
