#include "harness/run/step_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/judge/judge_pair.h"
#include "compare/measure/measure_pairs.h"
#include "compare/standard/standards.h"
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

}  // namespace

std::vector<StepResult> collect_results(const PlannedStep& step, const TensorStorage& storage,
                                        const std::map<std::size_t, double>& random_sums) {
  std::vector<StepResult> results;
  for (const std::size_t tensor : step.results) {
    const TensorDesc& desc = step.graph.tensors[tensor].desc;
    StepResult result{step.graph.tensors[tensor].name, describe(desc.dtype, desc.shape), {}, 0};
    if (const auto sum = random_sums.find(tensor); sum != random_sums.end()) {
      result.random_sum = sum->second;
    }
    result.values.resize(static_cast<std::size_t>(desc.elements()));
    parallel_blocks(block_count(desc), [&](std::int64_t i) {
      thread_local std::vector<double> values;
      const ElementRange range = block(desc, i);
      values.resize(static_cast<std::size_t>(range.count));
      read_doubles(desc, storage(tensor), range, values);
      std::transform(values.begin(), values.end(), result.values.begin() + range.first,
                     [](double value) { return static_cast<float>(value); });
    });
    results.push_back(std::move(result));
  }
  return results;
}

Judgement compare_results(const std::vector<StepResult>& actual,
                          const std::vector<StepResult>& expected, const ContextStandard& wanted) {
  if (actual.size() != expected.size()) {
    return {Verdict::failed,
            fmt::format("{} results, but {} to compare with", actual.size(), expected.size())};
  }
  const auto side = [](const StepResult& result) {
    return PairSide{StoredType::f32, result.desc.dtype, [&result](ElementRange range, void* to) {
                      std::copy_n(result.values.begin() + range.first, range.count,
                                  static_cast<float*>(to));
                    }};
  };
  const auto standard = [&](std::size_t i) {
    return standard_of(wanted, common_dtype(actual[i].desc.dtype, expected[i].desc.dtype));
  };
  const std::vector<PairMeasures> measured =
      measure_pairs(actual.size(),
                    [&](std::size_t i) {
                      return TensorPair{side(actual[i]), side(expected[i]),
                                        std::ssize(actual[i].values), standard(i).tolerance};
                    },
                    {.memory_bytes = std::int64_t{256} << 20, .wants_kl = false}, {});
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!measured[i].error.empty()) return {Verdict::failed, measured[i].error};
    DumpEntry a, e;
    a.desc = actual[i].desc;
    e.desc = expected[i].desc;
    const PairStats& stats = measured[i].stats;
    const PairJudgement judged = judge_pair({&a, &e}, stats, standard(i));
    // The sum of squares leaves NaN and Inf out.
    const bool is_finite = stats.nan_mismatches == 0 && stats.inf_mismatches == 0;
    const double sum = std::max(actual[i].random_sum, expected[i].random_sum);
    const double noise = 0x1p-6 * sum * std::sqrt(static_cast<double>(stats.count));
    const bool is_gradient = actual[i].name.starts_with("grad_");
    const bool is_noise = is_gradient && is_finite && sum > 0 && std::sqrt(stats.sum_sq) <= noise;
    if (judged.verdict == PairVerdict::failed && !is_noise) {
      return {Verdict::failed, fmt::format("{}: {}", actual[i].name, judged.reason)};
    }
  }
  return {};
}

}  // namespace opbench
