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

/// Inputs of a comparison in addition to its matches.
struct ComparisonPlan {
  Standards standards;
  StandardChoice choice;
  SideNames sides;
  bool is_load_mode = false;
  std::int64_t max_elements =
      std::numeric_limits<std::int64_t>::max();  ///< of a tensor that is read
  const OpTable* table = &OpTable::builtin();    ///< which knows what is drawn at random
  /// Dumps with damage that hides objects: missing tensors may be among these.
  struct Damaged {
    bool actual = false, expected = false;
  } damaged = {};
  /// --only: accepts operators, modules and paths; empty accepts all.
  std::function<bool(std::string_view)> only = {};
};

/// Results before measuring. Every tensor has its standard and its warnings; a tensor that cannot
/// be compared has its reason. Operators without any selected tensor are dropped.
std::vector<OperatorResult> plan_results(std::vector<OperatorMatch> matches,
                                         const ComparisonPlan& plan);

/// True if the result still needs measures.
bool is_waiting(const TensorResult& result);

/// Stores the measures made with `result.standard.tolerance` and judges them. If the standard needs
/// a golden tensor, `add_cross_check` judges instead.
void add_measures(TensorResult& result, const PairMeasures& measures);

/// The golden tensors of a pair; null if there is no such tensor.
struct GoldenMatch {
  TensorMatch npu;  ///< the actual tensor and the golden one
  TensorMatch gpu;  ///< the expected tensor and the same golden one
};

/// The partners in the golden file of every tensor in `results`, in their order (operators, then
/// tensors). Uses the matches of both dumps with the golden file.
std::vector<GoldenMatch> match_golden(std::span<const OperatorResult> results,
                                      std::span<const OperatorMatch> actual_with_golden,
                                      std::span<const OperatorMatch> expected_with_golden);

/// The reason why a tensor cannot be compared with its golden values.
Obstacle why_not_cross_checked(const GoldenMatch& golden, const SideNames& sides,
                               const std::string& golden_name);

/// Adds the cross-check of a result. Both dumps' tensors were measured against the golden tensor
/// with `result.standard.tolerance`. It decides the verdict if the standard needs a golden tensor.
void add_cross_check(TensorResult& result, const PairMeasures& npu, const PairMeasures& gpu);

}  // namespace opbench
