#include "harness/run/step_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/judge/judge_pair.h"
#include "compare/measure/measure_pairs.h"
#include "compare/standard/standards.h"
#include "harness/run/judge_node.h"
#include "tensor/checksum.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

std::string problem_text(const Problem& problem) {
  std::string text(problem.op->name);
  for (const TensorDesc& input : problem.inputs) text += fmt::format(" {}", to_string(input));
  for (const auto& [name, value] : problem.attrs.values()) {
    text += fmt::format(" {}={}", name, to_string(value));
  }
  return text;
}

/// One node of a step on its way through the checks.
class NodeCheck {
 public:
  NodeCheck(const PlannedStep& step, const ContextMemory& memory, std::size_t node)
      : step_(step),
        memory_(memory),
        node_(step.graph.nodes[node]),
        kernel_(*step.selection.kernels[node]),
        storage_(memory.storage_of(step)) {}

  void prepare() const {
    for (const std::size_t output : node_.outputs) memory_.poison(step_, output);
  }

  std::vector<std::uint64_t> checksums(const std::vector<std::size_t>& tensors) const {
    std::vector<std::uint64_t> sums;
    for (const std::size_t tensor : tensors) {
      sums.push_back(checksum(storage_(tensor), step_.graph.tensors[tensor].desc.bytes()));
    }
    return sums;
  }

  // Empty, or what the kernel did beside computing; without checksums inputs are not looked at.
  std::string trespass(const std::vector<std::uint64_t>& inputs_before) const {
    for (const std::size_t output : node_.outputs) {
      if (!memory_.guards_intact(step_, output)) {
        return fmt::format("wrote outside the tensor '{}'", step_.graph.tensors[output].name);
      }
    }
    const bool is_kept = inputs_before.empty() || checksums(node_.inputs) == inputs_before;
    return is_kept ? "" : "changed its input";
  }

  OutputJudgement judge(std::size_t output) const {
    const bool saturates = step_.spec.precision.half == Precision::Half::saturate;
    return judge_output({node_, kernel_, storage_, true, saturates}, output);
  }

  std::string reason(const std::string& what) const {
    return fmt::format("{} ({}): {}", node_.name, kernel_.name, what);
  }

  const Node& node() const { return node_; }
  const Kernel& kernel() const { return kernel_; }

 private:
  const PlannedStep& step_;
  const ContextMemory& memory_;
  const Node& node_;
  const Kernel& kernel_;
  TensorStorage storage_;
};

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

// Operators that hand values on as they are, but for a factor.
bool hands_on(std::string_view op) {
  return op == "cast" || op == "trans_data" || op == "reshape" || op == "muls";
}

// The computed tensors that become results, directly or through operators that hand values on.
std::vector<bool> leads_to_results(const PlannedStep& step) {
  std::vector<bool> leads(step.graph.tensors.size());
  for (const std::size_t tensor : step.results) leads[tensor] = true;
  for (std::size_t n = step.graph.nodes.size(); n-- > 0;) {
    const Node& node = step.graph.nodes[n];
    if (hands_on(node.problem.op->name) && leads[node.outputs[0]]) leads[node.inputs[0]] = true;
  }
  return leads;
}

// After a node has run: what its outputs come to where their terms do not cancel.
void add_random_sums(const Node& node, const std::vector<bool>& leads, const TensorStorage& storage,
                     std::map<std::size_t, double>& sums) {
  if (hands_on(node.problem.op->name)) {
    const auto found = sums.find(node.inputs[0]);
    if (found == sums.end()) return;
    const bool is_scaled = node.problem.op->name == "muls";
    const double factor = is_scaled ? std::fabs(node.problem.attrs.number("value")) : 1;
    sums[node.outputs[0]] = factor * found->second;
    return;
  }
  if (!node.problem.op->mixes_elements) return;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!leads[node.outputs[i]]) continue;
    sums[node.outputs[i]] = random_sum(node, storage, node.problem.outputs[i]);
  }
}

}  // namespace

StepCheck StepChecker::check(const PlannedStep& step, const ContextMemory& memory,
                             const BoundGraph& bound) {
  StepCheck result;
  const bool saturates = step.spec.precision.half == Precision::Half::saturate;
  const std::vector<bool> leads = leads_to_results(step);
  const TensorStorage storage = memory.storage_of(step);
  for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
    if (bound.is_skipped(i)) continue;
    const NodeCheck check(step, memory, i);
    const bool is_known =
        judged_[{&check.kernel(), problem_text(check.node().problem), saturates}]++ >= enough_;
    check.prepare();
    const std::vector<std::uint64_t> inputs =
        is_known ? std::vector<std::uint64_t>() : check.checksums(check.node().inputs);
    bound.run_node(i);
    const auto fail = [&](const std::string& what) {
      result.judgement = {Verdict::failed, check.reason(what)};
      return result;
    };
    if (const std::string what = check.trespass(inputs); !what.empty()) return fail(what);
    add_random_sums(check.node(), leads, storage, result.random_sums);
    // A flag that is also the device's status is no function of its inputs alone.
    if (is_known || bound.reads_status(i)) continue;
    for (std::size_t output = 0; output < check.node().outputs.size(); ++output) {
      const OutputJudgement found = check.judge(output);
      result.stats.merge(found.stats);
      if (found.judgement.verdict == Verdict::failed) return fail(found.judgement.reason);
    }
  }
  return result;
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
