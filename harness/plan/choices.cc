#include "harness/plan/choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace opbench {
namespace {

// Operators of the graph, and those that its composite operators may be expanded to.
std::map<std::string, const Op*> operators_of(const LogicalGraph& values) {
  std::map<std::string, const Op*> ops;
  for (const Node& node : values.graph.nodes) {
    const Op& op = *node.problem.op;
    ops.emplace(op.name, &op);
    for (const std::string_view form : op.context.forms) {
      for (const ComposedCall& call : op.context.compose(node.problem, form)) {
        ops.emplace(call.op, &find_op(call.op));
      }
    }
  }
  return ops;
}

// True for kernels of the device that are right for all values and do not compute in a narrower
// dtype than they store.
bool is_same_function(const Kernel& kernel) {
  return kernel.provider == Provider::npu && kernel.takes == InputRange::any && !kernel.judged_as &&
         kernel.limit.holds == nullptr;
}

void add_word(std::vector<std::string>& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
}

Choice variant_choice(const Op& op, const PlanSetting& written) {
  Choice choice;
  choice.name = op.name;
  choice.is_graph = !op.context.forms.empty();
  const auto stated = written.variants.find(choice.name);
  choice.words.push_back(stated == written.variants.end()
                             ? "default"
                             : fmt::format("{}", fmt::join(stated->second, ",")));
  for (const std::string_view form : op.context.forms) {
    if (form != "native") add_word(choice.words, form);
  }
  for (const Kernel* kernel : kernels_of(op.name)) {
    if (is_same_function(*kernel)) add_word(choice.words, kernel->name);
  }
  return choice;
}

Choice rule_choice(const RuleWords& rule, const PlanSetting& written) {
  Choice choice;
  choice.name = rule.name;
  choice.rule = &rule;
  choice.is_graph = rule.name == "index";
  choice.words.emplace_back(rule.words[rule.get(written.rules)]);
  for (const std::string_view word : rule.words) add_word(choice.words, word);
  return choice;
}

}  // namespace

void Choice::set(PlanSetting& setting, std::size_t word) const {
  if (word == 0) return;
  if (rule == nullptr) {
    setting.variants[name] = {words[word]};
    return;
  }
  const auto found = std::find(rule->words.begin(), rule->words.end(), words[word]);
  rule->set(setting.rules, static_cast<std::size_t>(found - rule->words.begin()));
}

std::vector<Choice> choices_of(const LogicalGraph& values, const PlanSetting& written) {
  std::vector<Choice> choices;
  for (const RuleWords& rule : rule_words()) {
    if (rule.name != "allow_fp32_to_fp16") choices.push_back(rule_choice(rule, written));
  }
  for (const auto& [name, op] : operators_of(values)) {
    // The search counts conversions; they are not choices.
    if (op->context.conversion != Conversion::none) continue;
    Choice choice = variant_choice(*op, written);
    if (choice.words.size() > 1) choices.push_back(std::move(choice));
  }
  return choices;
}

PlanSetting setting_of(const std::vector<Choice>& choices, const PlanSetting& written,
                       const Point& point) {
  PlanSetting setting = written;
  for (std::size_t i = 0; i < choices.size(); ++i) choices[i].set(setting, point[i]);
  return setting;
}

std::size_t changes_of(const Point& point) {
  return point.size() - static_cast<std::size_t>(std::count(point.begin(), point.end(), 0u));
}

}  // namespace opbench
