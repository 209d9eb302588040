#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case_files.h"
#include "harness/plan/context.h"
#include "harness/plan/graph.h"
#include "harness/plan/memory_plan.h"
#include "harness/plan/options.h"
#include "harness/plan/selected_kernels.h"

namespace opbench {

/// A step with its graph, kernels and memory.
struct PlannedStep {
  ContextStep spec;
  Graph graph;
  SelectedKernels selection;
  std::vector<std::size_t> results;  ///< tensors that it is judged by, in the order of all steps
  MemoryPlan memory;
  double planning_ms = 0;

  /// Why it does not run; empty if it does.
  const std::string& refusal() const { return selection.refusal; }
};

/// A context with the plans of its steps, for one dtype.
struct PlannedContext {
  Context spec;
  DType dtype = DType::fp32;
  std::vector<PlannedStep> steps;
  std::optional<double> loss_scale;  ///< of `set_loss_scale`

  /// "shufflenet_v2_forward[N=8,fp16]": the name in reports and, hashed, the seed.
  std::string id() const;
  std::uint64_t seed() const;
  std::size_t largest_step_bytes() const;
};

/// Plans one step. Errors: throws Error where its graph is wrong; a step that no kernel takes has
/// the reason as its refusal.
PlannedStep plan_step(const Context& context, const ContextStep& step, DType dtype);

/// Plans the steps that scale their loss anew, with this scale. False if none does. Errors: those
/// of `plan_step`.
bool set_loss_scale(PlannedContext& context, double scale);

/// Everything of the case files' contexts that is selected: crossed with dtypes, filtered by
/// id and name, with the steps that `--variant` names, or all.
/// Errors: throws Error on anything that the command line or a file gets wrong.
std::vector<PlannedContext> make_context_plan(const CaseSelection& selection, CaseFiles& files);
/// The same, for one who needs the files for nothing else.
std::vector<PlannedContext> make_context_plan(const CaseSelection& selection);

}  // namespace opbench
