#include "harness/run/step_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "harness/plan/precision.h"
#include "harness/run/bound_graph.h"
#include "harness/run/memory.h"
#include "harness/run/samples.h"
#include "harness/run/unit_variant.h"
#include "harness/run/workspace.h"
#include "judge/bound.h"
#include "judge/pair_rules.h"
#include "judge/standards.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

bool is_gradient(std::string_view result) { return result.starts_with("grad_"); }

Standard standard_of(const ContextStandard& wanted, DType dtype) {
  StandardChoice choice;
  if (wanted.kind == ContextStandard::Kind::cosine) choice.kind = StandardKind::cosine;
  if (wanted.kind == ContextStandard::Kind::prec) {
    choice.kind = StandardKind::absolute;
    choice.absolute = wanted.limit;
  }
  Standard standard = standard_for(builtin_standards(), choice, "", dtype);
  if (standard.kind == StandardKind::cosine) standard.least_cosine = wanted.limit;
  return standard;
}

// A gradient that is 0 but for what its cancelled terms leave.
bool is_noise(const StepResult& actual, const StepResult& expected, const ValueComparison& found) {
  const PairStats& stats = found.stats;
  const double noise = (actual.rounding + expected.rounding) * std::sqrt(double(stats.count));
  // The sum of squares leaves NaN and Inf out.
  return is_gradient(actual.name) && stats.nonfinite_mismatches() == 0 && noise > 0 &&
         std::sqrt(stats.sum_sq) <= noise;
}

}  // namespace

StepInputs inputs_of(const PlannedStep& step) {
  StepInputs inputs;
  for (const ContextTensor& input : step.spec.graph->inputs) {
    inputs.emplace_back(input.name, input.shape);
  }
  return inputs;
}

std::vector<StepResult> collect_results(const PlannedStep& step, const TensorStorage& storage,
                                        const RoundingOfResults& rounding) {
  std::vector<StepResult> results;
  for (const std::size_t tensor : step.results) {
    const TensorDesc& desc = step.graph.tensors[tensor].desc;
    StepResult result{step.graph.tensors[tensor].name, describe(desc.dtype, desc.shape), {}, 0};
    if (const auto found = rounding.find(tensor); found != rounding.end()) {
      result.rounding = found->second;
    }
    result.values.resize(static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype));
    parallel_blocks(block_count(desc), [&](std::int64_t i) {
      const ElementRange range = block(desc, i);
      read_elements(desc, storage(tensor), range,
                    at(result.values.data(), desc.dtype, range.first));
    });
    results.push_back(std::move(result));
  }
  return results;
}

const StepResult* partner_of(const StepResult& result, const std::vector<StepResult>& results) {
  const auto found = std::find_if(results.begin(), results.end(), [&](const StepResult& other) {
    return other.name == result.name && other.desc.shape == result.desc.shape;
  });
  return found == results.end() ? nullptr : &*found;
}

ValueComparison compare_result(const StepResult& actual, const StepResult& expected,
                               const ContextStandard& wanted) {
  const DType a = actual.desc.dtype, e = expected.desc.dtype;
  return compare_values(actual.values.data(), a, expected.values.data(), e, actual.desc.elements(),
                        standard_of(wanted, common_dtype(a, e)), actual.desc.shape);
}

Judgement compare_results(const std::vector<StepResult>& actual,
                          const std::vector<StepResult>& expected, const ContextStandard& wanted) {
  if (actual.size() != expected.size()) {
    return {Verdict::failed,
            fmt::format("{} results, but {} to compare with", actual.size(), expected.size())};
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const ValueComparison found = compare_result(actual[i], expected[i], wanted);
    if (found.judgement.verdict == Verdict::failed && !is_noise(actual[i], expected[i], found)) {
      return {Verdict::failed, fmt::format("{}: {}", actual[i].name, found.judgement.reason)};
    }
  }
  return {};
}

namespace {

bool is_left_out(const StepResult& result, bool has_overflow) {
  if (result.name == kOverflowFlag) return true;
  return has_overflow && (is_gradient(result.name) || result.name.starts_with("updated_"));
}

bool is_output(const PlannedStep& step, const std::string& name) {
  const std::vector<std::string>& outputs = step.spec.graph->outputs;
  return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
}

}  // namespace

Judgement FirstResults::hold(const PlannedStep& step, const TensorStorage& storage,
                             const RoundingOfResults& rounding, bool has_overflow) {
  std::vector<StepResult> results = collect_results(step, storage, rounding);
  std::erase_if(results, [&](const StepResult& r) { return is_left_out(r, has_overflow); });
  const StepInputs inputs = inputs_of(step);
  const auto first = std::find_if(firsts_.begin(), firsts_.end(),
                                  [&](const First& f) { return f.inputs == inputs; });
  if (first == firsts_.end()) {
    if (!has_overflow) firsts_.push_back({step.spec.name, inputs, std::move(results)});
    return {};
  }
  std::vector<StepResult> actual, expected;
  std::size_t alone = 0;
  for (StepResult& result : results) {
    if (const StepResult* const partner = partner_of(result, first->results)) {
      actual.push_back(std::move(result));
      expected.push_back(*partner);
    } else if (is_output(step, result.name)) {
      return {Verdict::failed, fmt::format("step '{}' has no output {} of shape {}", first->step,
                                           result.name, to_string(result.desc.shape))};
    } else {
      ++alone;
    }
  }
  const Judgement judged = compare_results(actual, expected, step.spec.standard);
  if (judged.verdict == Verdict::failed) {
    return {Verdict::failed, fmt::format("other than step '{}': {}", first->step, judged.reason)};
  }
  if (alone == 0) return {};
  return {Verdict::passed,
          fmt::format("{} results have no partner in step '{}'", alone, first->step)};
}

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
  std::erase_if(results, [](const StepResult& r) { return !is_gradient(r.name); });
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
  const UnitVariant variant = unit_variant(planned);
  const Workspace workspace(planned.memory.bytes);
  workspace.load(variant, context.seed());
  const TensorStorage storage = workspace.storage_of(variant);
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

// Tensors become gradients directly or through operators that hand values on.
Cancellation::Cancellation(const UnitVariant& variant) : leads_(variant.graph->tensors.size()) {
  if (variant.step == nullptr) return;
  const Graph& graph = *variant.graph;
  for (const std::size_t tensor : variant.step->results) {
    leads_[tensor] = is_gradient(graph.tensors[tensor].name);
  }
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const bool hands_on = node.problem.op->context.factor != nullptr;
    if (hands_on && leads_[node.outputs[0]]) leads_[node.inputs[0]] = true;
  }
}

void Cancellation::add(const Node& node, const TensorStorage& storage) {
  const Problem& problem = node.problem;
  if (const auto factor = problem.op->context.factor; factor != nullptr) {
    const auto found = rounding_.find(node.inputs[0]);
    if (found == rounding_.end()) return;
    rounding_[node.outputs[0]] = std::fabs(factor(problem.attrs)) * found->second;
    return;
  }
  if (!problem.op->mixes_elements()) return;
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.emplace_back(problem.inputs[i], storage(node.inputs[i]));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!leads_[node.outputs[i]]) continue;
    rounding_[node.outputs[i]] = ErrorBound(problem, inputs, i).allowed_of_terms(fp16_operands());
  }
}

}  // namespace opbench
