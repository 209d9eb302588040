#include "harness/run/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "judge/judge_output.h"
#include "tensor/parallel.h"
#include "workers/elapsed.h"

namespace opbench {
namespace {

constexpr int kEveryTime = VerifyRules{}.enough;

std::string problem_text(const Problem& problem) {
  std::string text(problem.op->name);
  for (const TensorDesc& input : problem.inputs) text += fmt::format(" {}", to_string(input));
  for (const auto& [name, value] : problem.attrs.values()) {
    text += fmt::format(" {}={}", name, to_string(value));
  }
  return text;
}

/// Checks of one node.
class NodeCheck {
 public:
  NodeCheck(const UnitVariant& variant, const Workspace& workspace, std::size_t node)
      : variant_(variant),
        workspace_(workspace),
        node_(variant.graph->nodes[node]),
        kernel_(*variant.selection->kernels[node]),
        storage_(workspace.storage_of(variant)) {}

  std::vector<std::uint64_t> output_fingerprints() const {
    std::vector<std::uint64_t> sums;
    for (const std::size_t output : node_.outputs) {
      sums.push_back(workspace_.fingerprint(variant_, output));
    }
    return sums;
  }

  void surround(int byte) const {
    for (const auto* list : {&node_.outputs, &node_.inputs}) {
      for (const std::size_t tensor : *list) workspace_.surround(variant_, tensor, byte);
    }
  }
  void restore_guards() const {
    for (const auto* list : {&node_.outputs, &node_.inputs}) {
      for (const std::size_t tensor : *list) workspace_.restore_guards(variant_, tensor);
    }
  }

  void prepare() const {
    for (const std::size_t output : node_.outputs) workspace_.poison(variant_, output);
  }
  // Fills outputs that are judged on a sample with `byte`, so that elements that are not written
  // are visible. Padded outputs keep the usual poison, because padding may stay unwritten.
  void prepare_again(std::int64_t most_elements, int byte) const {
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      const TensorDesc& desc = node_.problem.outputs[i];
      const bool is_padded = desc.storage_elements() != desc.elements();
      const bool is_sampled = !is_padded && desc.elements() > most_elements;
      workspace_.poison(variant_, node_.outputs[i], is_sampled ? byte : Workspace::kPoison);
    }
  }

  std::vector<std::uint64_t> input_fingerprints() const {
    std::vector<std::uint64_t> sums;
    for (const std::size_t input : node_.inputs) {
      sums.push_back(workspace_.fingerprint(variant_, input));
    }
    return sums;
  }

  // Empty, or the name of the tensor with a damaged guard zone. Of the inputs only the loaded ones
  // have fresh guards.
  std::string damaged_guard() const {
    for (const auto* list : {&node_.outputs, &node_.inputs}) {
      for (const std::size_t tensor : *list) {
        const GraphTensor& looked_at = variant_.graph->tensors[tensor];
        const bool is_fresh = list == &node_.outputs || !looked_at.is_computed();
        if (is_fresh && !workspace_.guards_intact(variant_, tensor)) return looked_at.name;
      }
    }
    return {};
  }

  CallToJudge to_judge(const VerifyRules& rules) const {
    CallToJudge call = call_of(node_.problem, kernel_, variant_.saturates());
    call.most_elements = rules.most_elements;
    call.rule = rules.outputs;
    for (const std::size_t input : node_.inputs) call.inputs.push_back(storage_(input));
    for (const std::size_t output : node_.outputs) call.outputs.push_back(storage_(output));
    return call;
  }

  // Place of a failure. For a context's node: its name and kernel. For a case's node, which has no
  // name: the output if there are several.
  std::string place(std::size_t output, const std::string& reason) const {
    if (!node_.name.empty()) return located(reason);
    const bool is_only = variant_.graph->nodes.size() == 1 && node_.outputs.size() == 1;
    if (is_only || reason.empty()) return reason;
    return fmt::format("{}: {}", variant_.graph->tensors[node_.outputs[output]].name, reason);
  }
  std::string located(const std::string& reason) const {
    if (node_.name.empty()) return reason;
    return fmt::format("{} ({}): {}", node_.name, kernel_.name, reason);
  }

  bool is_result(std::size_t output) const {
    return variant_.graph->tensors[node_.outputs[output]].role == GraphTensor::output;
  }
  const Node& node() const { return node_; }
  const Kernel& kernel() const { return kernel_; }

 private:
  const UnitVariant& variant_;
  const Workspace& workspace_;
  const Node& node_;
  const Kernel& kernel_;
  TensorStorage storage_;
};

// Judges the outputs of a node that has run. The first failure of the graph decides. Only outputs
// of the graph can be mistrusted: a constant gradient in between is the correct gradient of a mean.
void judge_outputs(const NodeCheck& check, const VerifyRules& rules, Verification& result) {
  for (std::size_t output = 0; output < check.node().outputs.size(); ++output) {
    const CallToJudge what = check.to_judge(rules);
    const JudgedOutput judged = judge_output(what, output);
    const Judgement& judgement = judged.judgement;
    bool is_failure = judgement.verdict == Verdict::failed;
    if (const std::string limit = is_failure ? reason_of_limit(what, output) : ""; !limit.empty()) {
      result.known_limit = fmt::format("{} ({})", limit, check.place(output, judgement.reason));
      is_failure = false;
    }
    if (result.judgement.verdict != Verdict::failed) result.formula = judged.formula;
    const bool is_doubt =
        judgement.verdict == Verdict::mistrusted && rules.can_mistrust && check.is_result(output);
    if (result.judgement.verdict != Verdict::failed && (is_failure || is_doubt)) {
      result.judgement = {judgement.verdict, check.place(output, judgement.reason)};
    }
    if (!rules.counts_under_test || check.node().under_test) {
      result.stats.merge(judged.stats);
      result.elements += check.node().problem.outputs[output].elements();
    }
    if (is_failure && rules.stops_at_failure) return;
  }
}

// Repeats a node that passed, at least twice and for up to `seconds`. The bits must not depend on
// races of threads, on the bytes around its tensors, or on the former contents of sampled outputs.
bool repeats_its_bits(const NodeCheck& check, const VerifyRules& rules,
                      const std::function<void()>& run, double seconds) {
  constexpr int kLeast = 2, kMost = 16;
  constexpr int kAround[] = {0x7B, 0x00, 0x3C};  // 0, large and near 1 in every floating dtype
  if (check.kernel().sums_by_thread) return true;
  const std::vector<std::uint64_t> first = check.output_fingerprints();
  const auto start = std::chrono::steady_clock::now();
  bool is_same = true;
  for (int i = 0; i < kMost && is_same && (i < kLeast || seconds_since(start) < seconds); ++i) {
    const int byte = kAround[i % std::ssize(kAround)];
    check.prepare_again(rules.most_elements, byte);
    check.surround(byte);
    run();
    is_same = check.output_fingerprints() == first;
  }
  check.restore_guards();
  return is_same;
}

}  // namespace

VerifyRules rules_for(const WorkUnit& unit, std::int64_t most_elements, const OutputRule& outputs) {
  if (!unit.is_context()) return {.most_elements = most_elements, .outputs = outputs};
  return {.enough = 1,
          .stops_at_failure = true,
          .repeats = false,
          .can_mistrust = false,
          .counts_under_test = false,
          .most_elements = most_elements,
          .outputs = outputs};
}

bool Verifier::is_known(const UnitVariant& variant, std::size_t node) {
  if (rules_.enough == kEveryTime) return false;
  const Key key{variant.selection->kernels[node], problem_text(variant.graph->nodes[node].problem),
                variant.saturates()};
  return judged_[key]++ >= rules_.enough;
}

Verification Verifier::verify(const UnitVariant& variant, const Workspace& workspace,
                              const BoundGraph& bound, int threads) {
  Verification result;
  const std::size_t nodes = variant.graph->nodes.size();
  // A single node's input check covers all given tensors.
  const bool is_covered = nodes == 1 && rules_.enough == kEveryTime;
  const std::uint64_t given = is_covered ? 0 : workspace.given_fingerprint(variant);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (bound.is_skipped(i)) continue;
    const NodeCheck check(variant, workspace, i);
    const auto fail = [&](const std::string& what) {
      result.judgement = {Verdict::failed, check.located(what)};
      return result;
    };
    const bool known = is_known(variant, i);
    check.prepare();
    const std::vector<std::uint64_t> inputs =
        known ? std::vector<std::uint64_t>() : check.input_fingerprints();
    const auto run = [&] { with_threads(threads, [&] { bound.run_node(i); }); };
    run();
    if (const std::string tensor = check.damaged_guard(); !tensor.empty()) {
      return fail(fmt::format("wrote outside the tensor '{}'", tensor));
    }
    if (!known && check.input_fingerprints() != inputs) return fail("changed its input");
    // A flag that includes the device's status register does not depend on its inputs alone.
    if (known || bound.reads_status(i)) continue;
    const auto start = std::chrono::steady_clock::now();
    judge_outputs(check, rules_, result);
    if (result.judgement.verdict == Verdict::failed && rules_.stops_at_failure) return result;
    const bool is_right = result.judgement.verdict != Verdict::failed;
    if (is_right && rules_.repeats &&
        !repeats_its_bits(check, rules_, run, seconds_since(start) / 10)) {
      return fail("gives other bits when it runs again on the same values");
    }
  }
  const bool is_failed = result.judgement.verdict == Verdict::failed;
  if (!is_failed && !is_covered && workspace.given_fingerprint(variant) != given) {
    result.judgement = {Verdict::failed, "changed given tensors"};
  }
  return result;
}

Verification Verifier::judge(const UnitVariant& variant, const Workspace& workspace) const {
  Verification result;
  for (std::size_t i = 0; i < variant.graph->nodes.size(); ++i) {
    const NodeCheck check(variant, workspace, i);
    if (const std::string tensor = check.damaged_guard(); !tensor.empty()) {
      result.judgement = {Verdict::failed,
                          check.located(fmt::format("wrote outside the tensor '{}'", tensor))};
      return result;
    }
    judge_outputs(check, rules_, result);
  }
  return result;
}

}  // namespace opbench
