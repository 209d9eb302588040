#include "harness/run/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/plan/selection.h"
#include "harness/run/judge_node.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Judges one node; the first failure of the graph decides. Only outputs of the graph can be
// mistrusted: a constant gradient in between is what mean gives.
void judge_node(const Workspace& workspace, const Node& node, const Kernel& kernel,
                Verification& result) {
  const TensorStorage storage = workspace.storage();
  for (std::size_t output = 0; output < node.outputs.size(); ++output) {
    auto [judgement, stats] = judge_output({node, kernel, storage}, output);
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
    judge_node(workspace, nodes[i], *selection.kernels[i], result);
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
