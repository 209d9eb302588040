#include "harness/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "harness/standards.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// How one node is judged.
struct Judge {
  const Node& node;
  const Kernel& kernel;

  Tolerance tolerance(DType dtype) const {
    if (is_exact()) return {};
    return mixed_tolerance(is_floating(dtype) ? kernel.judged_as.value_or(dtype) : dtype);
  }
  bool is_exact() const { return node.problem.op->accuracy != AccuracyClass::rounded; }
};

/// One block of an output beside its golden values.
using MeasureBlock =
    std::function<Stats(ElementRange range, const TensorDesc& desc, const void* storage)>;

MeasureBlock measure_rounded(const Judge& judge, std::span<const InputReader> inputs,
                             std::size_t output) {
  const Op& op = *judge.node.problem.op;
  return [&judge, output, reference = op.reference(inputs, judge.node.problem.attrs)](
             ElementRange range, const TensorDesc& desc, const void* storage) {
    thread_local std::vector<double> actual, expected;
    actual.resize(static_cast<std::size_t>(range.count));
    expected.resize(actual.size());
    reference(output, range, expected);
    read_doubles(desc, storage, range, actual);
    return measure(desc.dtype, judge.tolerance(desc.dtype), range.first, actual, expected);
  };
}

MeasureBlock measure_exact(const Judge& judge, std::span<const InputReader> inputs,
                           std::size_t output) {
  const Op& op = *judge.node.problem.op;
  return [any_nan = op.accuracy == AccuracyClass::exact_value, output,
          reference = op.exact_reference(inputs, judge.node.problem.attrs)](
             ElementRange range, const TensorDesc& desc, const void* storage) {
    thread_local std::vector<std::byte> actual, expected;
    actual.resize(static_cast<std::size_t>(range.count) * size_of(desc.dtype));
    expected.resize(actual.size());
    reference(output, range, expected.data());
    read_elements(desc, storage, range, actual.data());
    return measure_bits(desc.dtype, any_nan, range, actual.data(), expected.data());
  };
}

Stats compare_output(const Workspace& workspace, const Node& node, const MeasureBlock& measure,
                     std::size_t output) {
  const TensorDesc& desc = node.problem.outputs[output];
  std::vector<Stats> parts(static_cast<std::size_t>(block_count(desc)));
  parallel_blocks(block_count(desc), [&](std::int64_t i) {
    parts[static_cast<std::size_t>(i)] =
        measure(block(desc, i), desc, workspace.data(node.outputs[output]));
  });
  Stats stats;
  for (const Stats& part : parts) stats.merge(part);
  return stats;
}

// Judges one node; the first failure of the graph decides. Only outputs of the graph can be
// mistrusted: a constant gradient in between is what mean gives.
void judge_node(const Workspace& workspace, const Judge& how, Verification& result) {
  const Node& node = how.node;
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.emplace_back(node.problem.inputs[i], workspace.data(node.inputs[i]));
  }
  const bool has_bits = node.problem.op->exact_reference != nullptr;
  for (std::size_t output = 0; output < node.outputs.size(); ++output) {
    const Stats stats = compare_output(
        workspace, node,
        has_bits ? measure_exact(how, inputs, output) : measure_rounded(how, inputs, output),
        output);
    Judgement judgement = judge(stats, how.tolerance(node.problem.outputs[output].dtype));
    const GraphTensor& tensor = workspace.graph().tensors[node.outputs[output]];
    const bool is_named = workspace.graph().nodes.size() > 1 || node.outputs.size() > 1;
    if (is_named && !judgement.reason.empty()) {
      judgement.reason = fmt::format("{}: {}", tensor.name, judgement.reason);
    }
    const bool counts = judgement.verdict == Verdict::failed || tensor.role == GraphTensor::output;
    if (result.judgement.verdict != Verdict::failed && counts &&
        judgement.verdict != Verdict::passed) {
      result.judgement = judgement;
    }
    if (node.under_test) result.stats.merge(stats);
  }
}

}  // namespace

Verification verify(Workspace& workspace, const BoundGraph& bound, const Selection& selection,
                    int threads) {
  workspace.poison_results();
  const std::uint64_t before = workspace.input_checksum();
  with_threads(threads, [&] { bound.run(); });
  Verification result;
  const auto fail = [&](std::string reason) {
    result.judgement = {Verdict::failed, std::move(reason)};
    return result;
  };
  if (const std::string tensor = workspace.damaged_guard(); !tensor.empty()) {
    return fail(fmt::format("wrote outside the tensor '{}'", tensor));
  }
  if (workspace.input_checksum() != before) return fail("changed its input");
  const std::vector<Node>& nodes = workspace.graph().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    judge_node(workspace, {nodes[i], *selection.kernels[i]}, result);
  }
  return result;
}

Verification verify_with_corners(Workspace& workspace, const BoundGraph& bound,
                                 const Selection& selection, std::span<const Distribution> data,
                                 std::uint64_t seed, int threads) {
  const bool mixes = workspace.graph().mixes_elements();
  const InputRange drowned = mixes ? InputRange::finite : InputRange::any;
  constexpr double kLargestTerm = 128;
  workspace.add_corner_values(data, seed, std::max(drowned, selection.takes()),
                              mixes ? kLargestTerm : HUGE_VAL);
  return verify(workspace, bound, selection, threads);
}

}  // namespace opbench
