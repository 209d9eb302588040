#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case_files.h"
#include "harness/plan/context.h"
#include "harness/plan/context_graph.h"
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
  std::vector<GraphResult> results;  ///< in the order of all steps
  MemoryPlan memory;
  double planning_ms = 0;

  /// The reason why the step does not run; empty if it runs.
  const std::string& refusal() const { return selection.refusal; }
};

/// A context with the plans of its steps, for one dtype.
struct PlannedContext {
  Context spec;
  DType dtype = DType::fp32;
  std::vector<PlannedStep> steps;
  std::optional<double> loss_scale;  ///< set by `set_loss_scale`

  /// "shufflenet_v2_forward[N=8,fp16]": the name in reports. Its hash is the seed.
  std::string id() const;
  std::uint64_t seed() const;
  std::size_t largest_step_bytes() const;
};

/// Plans one step. If no kernel takes a node, the step's refusal is the reason.
/// Errors: throws Error if its graph is wrong.
PlannedStep plan_step(const Context& context, const ContextStep& step, DType dtype);

/// Plans the steps with a scaled loss again, with this scale. Returns false if no step scales its
/// loss.
/// Errors: those of `plan_step`.
bool set_loss_scale(PlannedContext& context, double scale);

/// All selected contexts of the case files: crossed with dtypes, filtered by id and name. They have
/// the steps that `--variant` names, or all steps.
/// Errors: throws Error on any mistake in the command line or a file.
std::vector<PlannedContext> make_context_plan(const CaseSelection& selection, CaseFiles& files);
/// Like the overload above, for callers that do not need the files.
std::vector<PlannedContext> make_context_plan(const CaseSelection& selection);

}  // namespace opbench
