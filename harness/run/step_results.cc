#include "harness/run/step_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/pair_rules.h"
#include "judge/standards.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

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
  const double sum = std::max(actual.random_sum, expected.random_sum);
  const double noise = 0x1p-6 * sum * std::sqrt(static_cast<double>(stats.count));
  // The sum of squares leaves NaN and Inf out.
  return actual.name.starts_with("grad_") && stats.nonfinite_mismatches() == 0 && sum > 0 &&
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
                                        const std::map<std::size_t, double>& random_sums) {
  std::vector<StepResult> results;
  for (const std::size_t tensor : step.results) {
    const TensorDesc& desc = step.graph.tensors[tensor].desc;
    StepResult result{step.graph.tensors[tensor].name, describe(desc.dtype, desc.shape), {}, 0};
    if (const auto sum = random_sums.find(tensor); sum != random_sums.end()) {
      result.random_sum = sum->second;
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

}  // namespace opbench
