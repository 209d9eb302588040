#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/run/bound_graph.h"
#include "judge/compare_values.h"

namespace opbench {

/// What a context's inputs are called and their shapes: steps with the same ones compute the same.
using StepInputs = std::vector<std::pair<std::string, Dims>>;
StepInputs inputs_of(const PlannedStep& step);

/// A tensor that steps are compared by, dense and in logical order.
struct StepResult {
  std::string name;
  TensorDesc desc;
  std::vector<std::byte> values;
  double random_sum = 0;  ///< of an element; 0: it is no sum
};

/// Copies the results of a step that has run; `random_sums` are those of its check.
std::vector<StepResult> collect_results(const PlannedStep& step, const TensorStorage& storage,
                                        const std::map<std::size_t, double>& random_sums = {});

/// The one of `results` with the name and shape of `result`; null if there is none.
const StepResult* partner_of(const StepResult& result, const std::vector<StepResult>& results);

/// How far a result is from another with its shape, and whether it meets `standard`.
ValueComparison compare_result(const StepResult& actual, const StepResult& expected,
                               const ContextStandard& standard);

/// Holds the results of a step to those of another with the same names and shapes: the first that
/// fails decides. A sum that is 0 but for rounding, such as the gradient of a shift which the next
/// batch norm takes back, meets no relative standard: what differs by less than 2^-6 of what its
/// terms come to at random passes.
Judgement compare_results(const std::vector<StepResult>& actual,
                          const std::vector<StepResult>& expected, const ContextStandard& standard);

}  // namespace opbench
