#include "harness/run/anchor.h"

#include <algorithm>
#include <cmath>

#include "harness/run/available_memory.h"
#include "harness/run/bound_graph.h"
#include "harness/run/item.h"
#include "harness/run/samples.h"
#include "harness/run/workspace.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

PlannedStep plan_anchor(const PlannedContext& context, const PlannedStep& step) {
  ContextStep spec = step.spec;
  spec.variants = {{std::string(kDefaultVariants), {"native"}}};
  spec.rules = {};
  spec.precision = {};
  return plan_step(context.spec, spec, DType::fp32);
}

std::vector<StepResult> gradients_of(const PlannedStep& step, const TensorStorage& storage) {
  std::vector<StepResult> results = collect_results(step, storage);
  std::erase_if(results, [](const StepResult& r) { return !r.name.starts_with("grad_"); });
  return results;
}

// None where the anchor's gradient is 0, and of what is not finite.
std::optional<double> relative_error(const StepResult& actual, const StepResult& anchor) {
  const PairStats stats = compare_result(actual, anchor, {}).stats;
  if (!(stats.sum_expected_sq > 0) || stats.finite_pairs() != stats.count) return std::nullopt;
  return static_cast<double>(std::sqrt(stats.sum_sq / stats.sum_expected_sq));
}

}  // namespace

const Anchors::Anchor& Anchors::anchor_of(const PlannedContext& context, const PlannedStep& step,
                                          int threads) {
  StepInputs inputs = inputs_of(step);
  const auto found = std::find_if(anchors_.begin(), anchors_.end(),
                                  [&](const Anchor& anchor) { return anchor.inputs == inputs; });
  if (found != anchors_.end()) return *found;
  Anchor& anchor = anchors_.emplace_back(Anchor{std::move(inputs), {}});
  const PlannedStep planned = plan_anchor(context, step);
  if (!planned.refusal().empty() || planned.memory.bytes > available_memory()) return anchor;
  const Runnable runnable = make_runnable(planned);
  const Workspace workspace(planned.memory.bytes);
  workspace.load(runnable, context.seed());
  const TensorStorage storage = workspace.storage_of(runnable);
  const BoundGraph bound(planned.graph, planned.selection.kernels, storage, threads);
  with_threads(threads, [&] { bound.run(); });
  anchor.gradients = gradients_of(planned, storage);
  return anchor;
}

std::optional<double> Anchors::gradient_error(const PlannedContext& context,
                                              const PlannedStep& step, const TensorStorage& storage,
                                              int threads) {
  if (!context.spec.backward) return std::nullopt;
  const Anchor& anchor = anchor_of(context, step, threads);
  std::vector<double> errors;
  for (const StepResult& gradient : gradients_of(step, storage)) {
    const StepResult* const partner = partner_of(gradient, anchor.gradients);
    if (partner == nullptr) continue;
    if (const auto error = relative_error(gradient, *partner)) errors.push_back(*error);
  }
  if (errors.empty()) return std::nullopt;
  return median_of(std::move(errors));
}

}  // namespace opbench
