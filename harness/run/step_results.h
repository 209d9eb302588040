#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/run/bound_graph.h"
#include "harness/run/unit_variant.h"
#include "judge/compare_values.h"

namespace opbench {

/// Names and shapes of a context's inputs. Steps with equal inputs compute the same results.
using StepInputs = std::vector<std::pair<std::string, Dims>>;
StepInputs inputs_of(const PlannedStep& step);

/// A result tensor of a step, dense and in logical order.
struct StepResult {
  std::string name;
  TensorDesc desc;
  std::vector<std::byte> values;
};

/// Copies the results of a step that has run.
std::vector<StepResult> collect_results(const PlannedStep& step, const TensorStorage& storage);

/// Error bound (root mean square) of the elements of a result whose terms cancel, by the result's
/// name. Results that are not sums are left out.
using RoundingOfResults = std::map<std::string, double>;
/// Computes the error bounds of some gradients. It costs another run of the step.
using FindRounding = std::function<RoundingOfResults(const std::vector<std::string>& gradients)>;

/// The element of `results` with the name and shape of `result`; null: not found.
const StepResult* partner_of(const StepResult& result, const std::vector<StepResult>& results);

/// Compares a result with another of the same shape by `standard`.
ValueComparison compare_result(const StepResult& actual, const StepResult& expected,
                               const ContextStandard& standard);

/// Compares the results of a step with those of another of the same names and shapes. The first
/// failure decides. A sum that is 0 except for rounding, such as the gradient of a shift that the
/// next batch norm cancels, meets no relative standard. It passes if the two differ by no more than
/// their error bounds. `find_rounding` is called for these only if gradients fail.
Judgement compare_results(const std::vector<StepResult>& actual,
                          const std::vector<StepResult>& expected, const ContextStandard& standard,
                          const FindRounding& find_rounding);

/// Results that steps are compared with: those of the first step with inputs of the same shapes.
class FirstResults {
 public:
  /// Compares the results of a step in memory with the first step's results of the same names and
  /// shapes, or stores them if the step is the first. Fails if an output of the context has no
  /// counterpart, and reports the number of other results without one. After an overflow, gradients
  /// and updated parameters are ignored, and the step's results are not stored.
  Judgement compare(const PlannedStep& step, const TensorStorage& storage,
                    const FindRounding& find_rounding, bool has_overflow);

 private:
  struct First {
    std::string step;
    StepInputs inputs;
    std::vector<StepResult> results;
  };

  std::vector<First> firsts_;
};

/// Anchor of a training context: forward and backward pass of its steps in fp32 with the
/// framework's own kernels. FirstResults compares steps with each other, which shows that tuning
/// has not changed the results. All steps may still be far from exact gradients, because the
/// device's cube takes fp16 operands and the network amplifies their rounding. Only the anchor
/// shows this distance.
class Anchors {
 public:
  /// Relative error (L2) of a step's gradients against those of the anchor on the same values,
  /// median over the gradients of inputs and parameters. The anchor runs once for every set of
  /// inputs, in memory of its own. None: the step has no gradients, or the anchor cannot be
  /// computed here (no kernels, too little memory).
  /// Errors: throws the errors of the kernels.
  std::optional<double> gradient_error(const PlannedContext& context, const PlannedStep& step,
                                       const TensorStorage& storage, int threads);

 private:
  struct Anchor {
    StepInputs inputs;
    std::vector<StepResult> gradients;
  };
  const Anchor& anchor_of(const PlannedContext& context, const PlannedStep& step, int threads);

  std::vector<Anchor> anchors_;
};

/// Error bounds of the gradients of a variant's step whose terms cancel, with fp16 operands as the
/// cube takes them. Runs the step once more on its inputs in memory. `gradients`: names of its
/// results.
RoundingOfResults rounding_of(const UnitVariant& variant, const BoundGraph& bound,
                              const TensorStorage& storage, int threads,
                              const std::vector<std::string>& gradients);

}  // namespace opbench
