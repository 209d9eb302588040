#include "harness/plan/context_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/plan/case_places.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/context_graph.h"
#include "harness/plan/context_id.h"
#include "harness/plan/format_plan.h"
#include "harness/plan/lowering.h"
#include "tensor/error.h"

namespace opbench {
namespace {

const std::vector<DType>& dtypes_of(const CaseSelection& selection, const Context& context) {
  return selection.dtypes.empty() ? context.dtypes : selection.dtypes;
}

// Removes steps that are not selected. Other steps are not compared with them any more.
void select_steps(const CaseSelection& selection, Context& context) {
  if (selection.variants.empty()) return;
  std::vector<ContextStep> kept;
  std::vector<int> place(context.steps.size(), -1);
  for (std::size_t i = 0; i < context.steps.size(); ++i) {
    ContextStep& step = context.steps[i];
    const bool is_wanted = std::find(selection.variants.begin(), selection.variants.end(),
                                     step.name) != selection.variants.end();
    if (!is_wanted) continue;
    place[i] = static_cast<int>(kept.size());
    if (step.after >= 0) step.after = place[static_cast<std::size_t>(step.after)];
    kept.push_back(std::move(step));
  }
  context.steps = std::move(kept);
}

PlannedContext plan_context(Context context, DType dtype) {
  PlannedContext planned;
  planned.dtype = dtype;
  for (const ContextStep& step : context.steps) {
    planned.steps.push_back(plan_step(context, step, dtype));
  }
  planned.spec = std::move(context);
  return planned;
}

std::string id_of(const Context& context, DType dtype) {
  return fmt::format("{}[{}{}{}]", context.name, context.symbols,
                     context.symbols.empty() ? "" : ",", name(dtype));
}

}  // namespace

std::string PlannedContext::id() const { return id_of(spec, dtype); }

std::uint64_t PlannedContext::seed() const { return spec.seed ? *spec.seed : text_hash(id()); }

std::size_t PlannedContext::largest_step_bytes() const {
  std::size_t most = 0;
  for (const PlannedStep& step : steps) most = std::max(most, step.memory.bytes);
  return most;
}

namespace {

void plan_graph(const Context& context, const ContextStep& step, DType dtype,
                PlannedStep& planned) {
  const LogicalGraph values = build_context_graph(context, step, dtype);
  PhysicalGraph stored =
      plan_formats(lower(values, step.variants, step.rules), step.variants, step.rules);
  planned.graph = std::move(stored.graph);
  planned.selection = std::move(stored.selection);
  planned.results = std::move(stored.results);
  try {
    planned.memory = plan_memory(planned.graph);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: step '{}': {}", step.origin, step.name, error.what()));
  }
}

}  // namespace

PlannedStep plan_step(const Context& context, const ContextStep& step, DType dtype) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  PlannedStep planned;
  planned.spec = step;
  planned.selection.refusal = step.not_applicable;
  if (step.not_applicable.empty()) {
    try {
      plan_graph(context, step, dtype, planned);
    } catch (const NoKernel& refusal) {
      planned.selection.refusal = refusal.what();
    }
  }
  planned.selection.variant = step.name;
  planned.planning_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return planned;
}

bool set_loss_scale(PlannedContext& context, double scale) {
  bool is_any = false;
  for (PlannedStep& step : context.steps) {
    ContextStep scaled = step.spec;
    if (scaled.precision.scaling == Precision::Scaling::none) continue;
    scaled.precision.scaling = Precision::Scaling::fixed;
    scaled.precision.loss_scale = scale;
    step = plan_step(context.spec, scaled, context.dtype);
    is_any = true;
  }
  context.loss_scale = scale;
  return is_any;
}

std::vector<PlannedContext> make_context_plan(const CaseSelection& selection, CaseFiles& files) {
  std::vector<PlannedContext> plan;
  const CaseFilter filter(selection.filter);
  std::size_t selected = 0;
  const auto add = [&](const Context& context, DType dtype) {
    if (!filter.takes(id_of(context, dtype), context.name)) return;
    Context chosen = context;
    select_steps(selection, chosen);
    if (chosen.steps.empty() || !selection.part.takes(selected++)) return;
    plan.push_back(plan_context(std::move(chosen), dtype));
  };
  for (const NamedContext& named : contexts_by_id(selection)) add(named.context, named.dtype);
  for (const CaseFile* file : files_named(selection.case_files, files)) {
    for (const Context& context : file->contexts) {
      for (const DType dtype : dtypes_of(selection, context)) add(context, dtype);
    }
  }
  return plan;
}

std::vector<PlannedContext> make_context_plan(const CaseSelection& selection) {
  CaseFiles files(selection.symbols);
  return make_context_plan(selection, files);
}

}  // namespace opbench
