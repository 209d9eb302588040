#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "judge/measure_pairs.h"
#include "ops/op_table.h"

namespace opbench {

/// What a comparison is made of besides its matches.
struct ComparisonPlan {
  Standards standards;
  StandardChoice choice;
  SideNames sides;
  bool is_load_mode = false;
  std::int64_t max_elements =
      std::numeric_limits<std::int64_t>::max();  ///< of a tensor that is read
  const OpTable* table = &OpTable::builtin();    ///< which knows what is drawn at random
  /// Dumps with objects that damage hides: what is missing there may be one of them.
  struct Damaged {
    bool actual = false, expected = false;
  } damaged = {};
  /// --only: operators, modules and paths that it accepts; empty for all.
  std::function<bool(std::string_view)> only = {};
};

/// Results that wait to be measured: every tensor has its standard and its warnings, and those that
/// cannot be compared their reason. Operators of which nothing is left are left out.
std::vector<OperatorResult> plan_results(std::vector<OperatorMatch> matches,
                                         const ComparisonPlan& plan);

/// True if a result waits for measures.
bool is_waiting(const TensorResult& result);

/// Takes over what was measured with `result.standard.tolerance` and judges it, unless the standard
/// needs a golden tensor: then the verdict comes with `add_cross_check`.
void add_measures(TensorResult& result, const PairMeasures& measures);

/// The golden tensors of a pair; null where there is none.
struct GoldenMatch {
  TensorMatch npu;  ///< the actual tensor and the golden one
  TensorMatch gpu;  ///< the expected tensor and the same golden one
};

/// For every tensor of `results`, in their order (operators, then tensors): its partners in the
/// golden file, by matches of either dump with it.
std::vector<GoldenMatch> match_golden(std::span<const OperatorResult> results,
                                      std::span<const OperatorMatch> actual_with_golden,
                                      std::span<const OperatorMatch> expected_with_golden);

/// What keeps a tensor from being held to its golden values.
Obstacle why_not_cross_checked(const GoldenMatch& golden, const SideNames& sides,
                               const std::string& golden_name);

/// Adds the cross-check of a result, of which both dumps' tensors were measured against the golden
/// one with `result.standard.tolerance`. It decides the verdict if the standard needs a golden
/// tensor.
void add_cross_check(TensorResult& result, const PairMeasures& npu, const PairMeasures& gpu);

}  // namespace opbench
