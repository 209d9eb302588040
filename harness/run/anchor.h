#pragma once

#include <optional>
#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/run/step_results.h"

namespace opbench {

/// The anchor of a training context: its steps' forward and backward pass in fp32 with the
/// framework's own kernels. Steps are held to each other (first_results.h), which proves that
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

}  // namespace opbench
