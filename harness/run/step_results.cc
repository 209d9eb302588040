#include "harness/run/step_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
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

// True for a gradient that is 0 except for the rounding errors of cancelled terms on both sides.
bool is_noise(const ValueComparison& found, double rounding) {
  const PairStats& stats = found.stats;
  const double noise = 2 * rounding * std::sqrt(double(stats.count));
  // NaN and Inf are not in the sum of squares.
  return stats.nonfinite_mismatches() == 0 && noise > 0 && std::sqrt(stats.sum_sq) <= noise;
}

}  // namespace

StepInputs inputs_of(const PlannedStep& step) {
  StepInputs inputs;
  for (const ContextTensor& input : step.spec.graph->inputs) {
    inputs.emplace_back(input.name, input.shape);
  }
  return inputs;
}

std::vector<StepResult> collect_results(const PlannedStep& step, const TensorStorage& storage) {
  std::vector<StepResult> results;
  for (const GraphResult& one : step.results) {
    const std::size_t tensor = one.tensor;
    const TensorDesc& desc = step.graph.tensors[tensor].desc;
    StepResult result{one.name, describe(desc.dtype, desc.shape), {}};
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
                          const std::vector<StepResult>& expected, const ContextStandard& wanted,
                          const FindRounding& find_rounding) {
  if (actual.size() != expected.size()) {
    return {Verdict::failed,
            fmt::format("{} results, but {} to compare with", actual.size(), expected.size())};
  }
  std::vector<std::pair<std::string, ValueComparison>> failed;
  std::vector<std::string> gradients;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ValueComparison found = compare_result(actual[i], expected[i], wanted);
    if (found.judgement.verdict != Verdict::failed) continue;
    if (is_gradient(actual[i].name)) gradients.push_back(actual[i].name);
    failed.emplace_back(actual[i].name, std::move(found));
  }
  RoundingOfResults rounding;
  if (!gradients.empty()) rounding = find_rounding(gradients);
  for (const auto& [name, found] : failed) {
    const auto noise = rounding.find(name);
    if (noise != rounding.end() && is_noise(found, noise->second)) continue;
    return {Verdict::failed, fmt::format("{}: {}", name, found.judgement.reason)};
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

Judgement FirstResults::compare(const PlannedStep& step, const TensorStorage& storage,
                                const FindRounding& find_rounding, bool has_overflow) {
  std::vector<StepResult> results = collect_results(step, storage);
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
  const Judgement judged = compare_results(actual, expected, step.spec.standard, find_rounding);
  if (judged.verdict == Verdict::failed) {
    return {Verdict::failed, fmt::format("differs from step '{}': {}", first->step, judged.reason)};
  }
  if (alone == 0) return {};
  return {Verdict::passed,
          fmt::format("{} results have no counterpart in step '{}'", alone, first->step)};
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

// None if the anchor's gradient is 0, or if a value is not finite.
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

namespace {

// Marks gradients, and tensors that become a gradient through operators that only pass values on.
std::vector<bool> tensors_behind(const UnitVariant& variant,
                                 const std::vector<std::string>& gradients) {
  const Graph& graph = *variant.graph;
  std::vector<bool> leads(graph.tensors.size());
  for (const GraphResult& result : variant.step->results) {
    const auto found = std::find(gradients.begin(), gradients.end(), result.name);
    if (found != gradients.end()) leads[result.tensor] = true;
  }
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    const bool hands_on = node.problem.op->context.factor != nullptr;
    if (hands_on && leads[node.outputs[0]]) leads[node.inputs[0]] = true;
  }
  return leads;
}

double rounding_of_output(const Node& node, const TensorStorage& storage, std::size_t output) {
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.emplace_back(node.problem.inputs[i], storage(node.inputs[i]));
  }
  return allowed_of_terms(node.problem, inputs, output, fp16_operands());
}

}  // namespace

RoundingOfResults rounding_of(const UnitVariant& variant, const BoundGraph& bound,
                              const TensorStorage& storage, int threads,
                              const std::vector<std::string>& gradients) {
  const Graph& graph = *variant.graph;
  const std::vector<bool> leads = tensors_behind(variant, gradients);
  std::map<std::size_t, double> by_tensor;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (bound.is_skipped(n)) continue;
    with_threads(threads, [&] { bound.run_node(n); });
    // The inputs of a node are valid until the next node runs.
    const Node& node = graph.nodes[n];
    const Op& op = *node.problem.op;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!leads[node.outputs[i]]) continue;
      if (op.context.factor != nullptr) {
        const auto sum = by_tensor.find(node.inputs[0]);
        if (sum == by_tensor.end()) continue;
        by_tensor[node.outputs[i]] = std::fabs(op.context.factor(node.problem.attrs)) * sum->second;
      } else if (op.mixes_elements()) {
        by_tensor[node.outputs[i]] = rounding_of_output(node, storage, i);
      }
    }
  }
  RoundingOfResults found;
  for (const GraphResult& result : variant.step->results) {
    const auto rounding = by_tensor.find(result.tensor);
    if (rounding != by_tensor.end()) found[result.name] = rounding->second;
  }
  return found;
}

}  // namespace opbench
