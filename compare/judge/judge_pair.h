#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/matching.h"
#include "compare/measure/pair_stats.h"
#include "compare/standard/standard.h"
#include "tensor/shape.h"

namespace opbench {

/// `mistrusted` is a pass that proves little: no elements, constant, mostly zeros, nothing finite.
enum class PairVerdict { passed, failed, mistrusted, not_compared };

/// "passed", "failed", "mistrusted", "not compared".
std::string_view name(PairVerdict verdict);

/// What messages call the two dumps, such as their files' names.
struct SideNames {
  std::string actual = "the actual dump", expected = "the expected dump";
};

struct PairJudgement {
  PairVerdict verdict = PairVerdict::passed;
  /// One line with the deciding number, and where something is off the worst element's index and
  /// both values; empty for a plain pass.
  std::string reason;
};

/// Why a match has no numbers: one side is missing or cannot be read, the numbers of elements
/// differ, a dtype is not supported. Empty if it can be measured.
std::string why_not_compared(const TensorMatch& match, const SideNames& sides = {});

/// What a reader of the numbers should know of a pair that is compared: shapes or dtypes that
/// differ, and what is doubtful about either side.
std::vector<std::string> pair_warnings(const TensorMatch& match, const SideNames& sides = {});

/// The dtype whose standard a pair is held to: the coarser of both.
DType judged_dtype(const TensorMatch& match);

/// Holds a pair that was measured with `standard.tolerance` to `standard`, which is no cross-check
/// (see judge_cross_check). NaN and Inf must coincide in every standard.
PairJudgement judge_pair(const TensorMatch& match, const PairStats& stats,
                         const Standard& standard);

/// Holds the NPU's errors against a golden tensor to those of the GPU against the same, both
/// measured with `standard.tolerance`; `match` names the NPU's tensor and its shape. The GPU's
/// relative errors count as at least `standard.rounding`, its rmse as at least that part of the
/// golden values' root mean square; without a rounding the golden values must be met exactly.
struct CrossCheck {
  double mare = 0, mere = 0, rmse = 0;  ///< ratios, NPU over GPU
  PairJudgement judgement;
};
CrossCheck judge_cross_check(const TensorMatch& match, const PairStats& npu, const PairStats& gpu,
                             const Standard& standard);

/// Place of an element in a tensor of `shape`: "[0,3,1]", "[]" for a scalar.
std::string index_text(const Dims& shape, std::int64_t element);

/// As reasons write values: nine digits, "NaN" without a sign.
std::string value_text(double value);

}  // namespace opbench
