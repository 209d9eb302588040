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

/// What a context's inputs are called and their shapes: steps with the same ones compute the same.
using StepInputs = std::vector<std::pair<std::string, Dims>>;
StepInputs inputs_of(const PlannedStep& step);

/// A tensor that steps are compared by, dense and in logical order.
struct StepResult {
  std::string name;
  TensorDesc desc;
  std::vector<std::byte> values;
};

/// Copies the results of a step that has run.
std::vector<StepResult> collect_results(const PlannedStep& step, const TensorStorage& storage);

/// The error that the bound allows an element of a result where its terms cancel, root mean square,
/// by the result's name; those that are no sums are missing.
using RoundingOfResults = std::map<std::string, double>;
/// Finds that of some gradients, which costs another run of the step.
using FindRounding = std::function<RoundingOfResults(const std::vector<std::string>& gradients)>;

/// The one of `results` with the name and shape of `result`; null if there is none.
const StepResult* partner_of(const StepResult& result, const std::vector<StepResult>& results);

/// How far a result is from another with its shape, and whether it meets `standard`.
ValueComparison compare_result(const StepResult& actual, const StepResult& expected,
                               const ContextStandard& standard);

/// Holds the results of a step to those of another with the same names and shapes: the first that
/// fails decides. A sum that is 0 but for rounding, such as the gradient of a shift which the next
/// batch norm takes back, meets no relative standard: it passes where both differ by no more than
/// their error bounds, for which `find_rounding` is asked where gradients fail.
Judgement compare_results(const std::vector<StepResult>& actual,
                          const std::vector<StepResult>& expected, const ContextStandard& standard,
                          const FindRounding& find_rounding);

/// The results that steps are held to: those of the first step with inputs of the same shapes.
class FirstResults {
 public:
  /// Compares what a step has left in memory with the first step's results of the same names and
  /// shapes, or keeps it if it is the first. Fails if an output of the context has no partner, and
  /// says how many other results have none. After an overflow neither gradients nor updated
  /// parameters are meant, and the step is no standard for others.
  Judgement hold(const PlannedStep& step, const TensorStorage& storage,
                 const FindRounding& find_rounding, bool has_overflow);

 private:
  struct First {
    std::string step;
    StepInputs inputs;
    std::vector<StepResult> results;
  };

  std::vector<First> firsts_;
};

/// The anchor of a training context: its steps' forward and backward pass in fp32 with the
/// framework's own kernels. Steps are held to each other (FirstResults), which proves that
/// tuning has changed nothing; how far all of them are from exact gradients, because the device's
/// cube takes fp16 operands and the network amplifies it, only the anchor tells.
class Anchors {
 public:
  /// The relative error (L2) of a step's gradients against those of the anchor on the same values,
  /// median over the gradients of inputs and parameters. The anchor runs once for every set of
  /// inputs, in memory of its own. None: the step has no gradients, or the anchor cannot be
  /// computed here (no kernels, too little memory). Errors: whatever a kernel throws.
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

/// The error that the bound allows gradients of a variant's step where their terms cancel, with
/// operands in fp16 as the cube takes them. Runs the step once more on the inputs that it has in
/// memory; `gradients`: names of its results.
RoundingOfResults rounding_of(const UnitVariant& variant, const BoundGraph& bound,
                              const TensorStorage& storage, int threads,
                              const std::vector<std::string>& gradients);

}  // namespace opbench
