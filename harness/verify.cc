#include "harness/verify.h"

#include <fmt/format.h>

#include <vector>

#include "harness/reference_kernel.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

Tolerance tolerance_of(const Op& op, DType dtype) {
  return op.accuracy == AccuracyClass::exact ? Tolerance{} : mixed_tolerance(dtype);
}

Stats compare_output(const Workspace& workspace, const Node& node, const Reference& reference,
                     std::size_t output) {
  const TensorDesc& desc = node.problem.outputs[output];
  const Tolerance tolerance = tolerance_of(*node.problem.op, desc.dtype);
  std::vector<Stats> parts(static_cast<std::size_t>(block_count(desc)));
  for_each_expected_block(
      reference, output, desc,
      [&](std::int64_t block, ElementRange range, std::span<const double> expected) {
        thread_local std::vector<double> actual;
        actual.resize(expected.size());
        read_doubles(desc, workspace.data(node.outputs[output]), range, actual);
        parts[static_cast<std::size_t>(block)] =
            measure(desc.dtype, tolerance, range.first, actual, expected);
      });
  Stats stats;
  for (const Stats& part : parts) stats.merge(part);
  return stats;
}

// Judges one node; the first failure of the graph decides. Only outputs of the graph can be
// mistrusted: a constant gradient in between is what mean gives.
void judge_node(const Workspace& workspace, const Node& node, Verification& result) {
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.emplace_back(node.problem.inputs[i], workspace.data(node.inputs[i]));
  }
  const Reference reference = node.problem.op->reference(inputs, node.problem.attrs);
  for (std::size_t output = 0; output < node.outputs.size(); ++output) {
    const Stats stats = compare_output(workspace, node, reference, output);
    Judgement judgement =
        judge(stats, tolerance_of(*node.problem.op, node.problem.outputs[output].dtype));
    const GraphTensor& tensor = workspace.graph().tensors[node.outputs[output]];
    if (workspace.graph().nodes.size() > 1 && !judgement.reason.empty()) {
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

Verification verify(Workspace& workspace, const BoundGraph& bound, int threads) {
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
  for (const Node& node : workspace.graph().nodes) judge_node(workspace, node, result);
  return result;
}

}  // namespace opbench
