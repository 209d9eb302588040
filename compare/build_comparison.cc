#include "compare/build_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "judge/control.h"
#include "ops/op_table.h"

namespace opbench {
namespace {

// True if `only` accepts the operator's name, its module, or the tensor's path in either dump.
bool is_wanted(const ComparisonPlan& plan, const OperatorMatch& match, const TensorMatch& tensor) {
  if (!plan.only) return true;
  for (const DumpRecord* record : {match.actual, match.expected}) {
    if (record == nullptr) continue;
    const std::string* const module = record->note("opbench_module");
    if (plan.only(record->op) || (module != nullptr && plan.only(*module))) return true;
  }
  return (tensor.actual != nullptr && plan.only(tensor.actual->path)) ||
         (tensor.expected != nullptr && plan.only(tensor.expected->path));
}

// The judgement before any values are read. `not_compared` without a reason: the tensor can be
// compared.
Judgement judgement_before_reading(const TensorMatch& match, const ComparisonPlan& plan) {
  if (plan.is_load_mode && match.actual == nullptr && match.expected->side == Side::input) {
    return {Verdict::not_compared,
            fmt::format("was an input of the run that made {} (load mode)", plan.sides.actual)};
  }
  Obstacle obstacle_found = obstacle(match, plan.sides);
  Judgement found{obstacle_found.is_unread() ? Verdict::unread : Verdict::not_compared,
                  std::move(obstacle_found.reason)};
  const std::int64_t elements =
      (match.actual != nullptr ? match.actual : match.expected)->desc.elements();
  if (found.reason.empty() && elements > plan.max_elements) {
    return {Verdict::unread,
            fmt::format("{} elements; --max-elements allows {}", elements, plan.max_elements)};
  }
  // A missing partner may be in the damaged part.
  const bool may_be_lost = (match.actual == nullptr && plan.damaged.actual) ||
                           (match.expected == nullptr && plan.damaged.expected);
  if (may_be_lost) {
    found.verdict = Verdict::unread;
    found.reason += fmt::format("; parts of {} are damaged",
                                match.actual == nullptr ? plan.sides.actual : plan.sides.expected);
  }
  return found;
}

bool is_random(const std::string& op, const OpTable& table) {
  const std::vector<const OpRow*> rows = table.find(op);
  return std::any_of(rows.begin(), rows.end(),
                     [](const OpRow* row) { return row->drawn != Drawn::not_at_all; });
}

TensorResult planned(const TensorMatch& match, const std::string& op, const ComparisonPlan& plan) {
  TensorResult result;
  result.match = match;
  result.standard = standard_for(plan.standards, plan.choice, op, judged_dtype(match));
  result.judgement = judgement_before_reading(match, plan);
  const DumpEntry& entry = result.entry();
  if (is_waiting(result) && entry.side == Side::input && entry.name == "self" && only_writes(op)) {
    result.judgement.reason = "is overwritten";
  }
  result.warnings = pair_warnings(match, plan.sides);
  return result;
}

using Partners = std::unordered_map<const DumpEntry*, const DumpEntry*>;

Partners golden_partners(std::span<const OperatorMatch> matches) {
  Partners partners;
  for (const OperatorMatch& match : matches) {
    for (const TensorMatch& tensor : match.tensors) {
      if (tensor.actual != nullptr) partners.emplace(tensor.actual, tensor.expected);
    }
  }
  return partners;
}

TensorMatch with_partner(const DumpEntry* entry, const Partners& partners) {
  const auto found = partners.find(entry);
  return {entry, found == partners.end() ? nullptr : found->second};
}

// The judgement of a pair that was not read or not reached. `not_compared` without a reason: the
// pair has values.
Judgement judgement_without_values(const PairMeasures& measures) {
  if (!measures.error.empty()) return {Verdict::unread, measures.error};
  return {Verdict::not_compared,
          measures.is_done ? std::string() : "not reached before the run was stopped"};
}

}  // namespace

std::vector<OperatorResult> plan_results(std::vector<OperatorMatch> matches,
                                         const ComparisonPlan& plan) {
  std::vector<OperatorResult> results;
  results.reserve(matches.size());
  for (OperatorMatch& match : matches) {
    OperatorResult result;
    result.actual = match.actual;
    result.expected = match.expected;
    const std::string op = result.op();
    result.is_random = is_random(op, *plan.table);
    for (const TensorMatch& tensor : match.tensors) {
      if (is_wanted(plan, match, tensor)) result.tensors.push_back(planned(tensor, op, plan));
    }
    if (result.tensors.empty()) continue;
    result.note = std::move(match.note);
    results.push_back(std::move(result));
  }
  return results;
}

bool is_waiting(const TensorResult& result) {
  return result.judgement.verdict == Verdict::not_compared && result.judgement.reason.empty();
}

void add_measures(TensorResult& result, const PairMeasures& measures) {
  result.judgement = judgement_without_values(measures);
  if (!result.judgement.reason.empty()) return;
  result.is_measured = true;
  result.stats = measures.stats;
  if (needs_golden(result.standard->kind)) {
    result.judgement.reason = "not compared with a golden file";
    return;
  }
  result.judgement = judge(result.stats, result.standard,
                           {judged_shape(result.match), judged_dtype(result.match)});
  // Constant or empty inputs pass if they are equal: inputs need no further evidence.
  const bool is_same_input = result.entry().side == Side::input && result.stats.unequal == 0;
  if (is_same_input && result.judgement.verdict == Verdict::mistrusted)
    result.judgement = {Verdict::passed, {}};
}

std::vector<GoldenMatch> match_golden(std::span<const OperatorResult> results,
                                      std::span<const OperatorMatch> actual_with_golden,
                                      std::span<const OperatorMatch> expected_with_golden) {
  const Partners actual = golden_partners(actual_with_golden);
  const Partners expected = golden_partners(expected_with_golden);
  std::vector<GoldenMatch> found;
  for (const OperatorResult& op : results) {
    for (const TensorResult& tensor : op.tensors) {
      found.push_back({with_partner(tensor.match.actual, actual),
                       with_partner(tensor.match.expected, expected)});
    }
  }
  return found;
}

Obstacle why_not_cross_checked(const GoldenMatch& golden, const SideNames& sides,
                               const std::string& golden_name) {
  using Kind = Obstacle::Kind;
  Obstacle pair = obstacle({golden.npu.actual, golden.gpu.actual}, sides);
  if (pair.kind != Kind::none) return pair;
  for (const TensorMatch& match : {golden.npu, golden.gpu}) {
    if (match.expected == nullptr) return {Kind::missing, fmt::format("not in {}", golden_name)};
  }
  if (golden.npu.expected != golden.gpu.expected) {
    return {Kind::missing, fmt::format("{} has different partners for both: {} and {}", golden_name,
                                       golden.npu.expected->path, golden.gpu.expected->path)};
  }
  Obstacle npu = obstacle(golden.npu, {sides.actual, golden_name});
  return npu.kind != Kind::none ? npu : obstacle(golden.gpu, {sides.expected, golden_name});
}

void add_cross_check(TensorResult& result, const PairMeasures& npu, const PairMeasures& gpu) {
  const bool decides = needs_golden(result.standard->kind);
  Judgement missing = judgement_without_values(npu);
  if (missing.reason.empty()) missing = judgement_without_values(gpu);
  if (!missing.reason.empty()) {
    if (decides) result.judgement = std::move(missing);
    return;
  }
  result.cross_check = std::make_shared<const CrossCheck>(
      judge_cross_check(npu.stats, gpu.stats, result.standard,
                        {judged_shape(result.match), judged_dtype(result.match)}));
  if (result.standard->kind == StandardKind::control) {
    result.judgement = judge_by_control(output_error(npu.stats), output_error(gpu.stats),
                                        judged_dtype(result.match), "the other dump");
  } else if (decides) {
    result.judgement = result.cross_check->judgement;
  }
}

}  // namespace opbench
