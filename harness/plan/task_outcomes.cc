#include "harness/plan/task_outcomes.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/error.h"

namespace opbench {
namespace {

void mix(std::size_t& hash, std::size_t value) {
  constexpr std::size_t kPrime = 0x100000001b3;  // FNV-1a, 64 bits, word by word
  hash = (hash ^ value) * kPrime;
  hash ^= hash >> 29;
}

constexpr std::size_t kStart = 0xcbf29ce484222325;  // offset basis of FNV-1a

// True if a plan of the operator depends on the rules for formats.
bool consults_rules(const Op& op) {
  const ContextTraits& traits = op.context;
  return traits.input_format != nullptr || traits.output_format != nullptr ||
         traits.engine_refusal != nullptr || traits.variants != nullptr;
}

PlanCost cost_of(const ConversionPath& path) {
  PlanCost cost;
  Node node;
  for (const PlannedConversion& conversion : path) {
    node.problem = conversion.problem;
    cost += task_cost(node, *conversion.kernel);
  }
  return cost;
}

}  // namespace

std::size_t DescNumbers::Hash::operator()(const TensorDesc& desc) const {
  std::size_t hash = kStart;
  for (const std::int64_t extent : desc.shape) mix(hash, std::size_t(extent));
  mix(hash, std::size_t(desc.dtype));
  mix(hash, std::size_t(desc.format));
  mix(hash, std::size_t(desc.groups));
  return hash;
}

int DescNumbers::of(const TensorDesc& desc) {
  const auto [place, is_new] = numbers_.emplace(desc, static_cast<int>(descs_.size()));
  if (is_new) descs_.push_back(&place->first);
  return place->second;
}

std::size_t TaskOutcomes::Hash::operator()(const std::vector<int>& key) const {
  std::size_t hash = kStart;
  for (const int number : key) mix(hash, std::size_t(number));
  return hash;
}

int TaskOutcomes::kind_of(const NodeUse& use, const Point& point) {
  const Node& node = *use.node;
  const Op& op = *node.problem.op;
  const auto found = std::find_if(choices_.begin(), choices_.end(), [&](const Choice& choice) {
    return choice.rule == nullptr && choice.name == op.name;
  });
  const bool is_any = found != choices_.end();
  const auto choice = std::size_t(found - choices_.begin());
  const std::size_t word = is_any && found->is_graph ? point[choice] : 0;
  std::string key = fmt::format("{} {} {}", op.name, word, node.shares_conversions != 0);
  for (const auto& [name, value] : node.problem.attrs.values()) {
    key += fmt::format(" {}={}", name, to_string(value));
  }
  for (std::size_t i = 0; i < use.given.size(); ++i) {
    const auto first = std::find(node.inputs.begin(), node.inputs.end(), node.inputs[i]);
    key += fmt::format(" {}/{}/{}/{}", descs_.of(node.problem.inputs[i]), descs_.of(use.given[i]),
                       int(use.arrivals[i]), first - node.inputs.begin());
  }
  for (const auto& dtype : use.read_as) key += fmt::format(" >{}", dtype ? int(*dtype) : -1);
  const auto [place, is_new] = kind_numbers_.emplace(key, static_cast<int>(kinds_.size()));
  if (is_new) {
    kinds_.push_back({node, use, is_any ? std::optional(choice) : std::nullopt, word});
    kinds_.back().use.node = nullptr;  // set at each use, because kinds move
  }
  return place->second;
}

const TaskQuestion& TaskOutcomes::question(int kind, const std::vector<int>& given, int input,
                                           DType dtype) {
  key_.assign({kind, input, int(dtype)});
  key_.insert(key_.end(), given.begin(), given.end());
  const auto found = questions_.find(key_);
  if (found != questions_.end()) return found->second;
  TaskQuestion question{kind, given, input, dtype, {}, {}};
  question.choices = choices_for(question);
  answer(question);
  return questions_.emplace(key_, std::move(question)).first->second;
}

std::vector<std::size_t> TaskOutcomes::choices_for(const TaskQuestion& question) const {
  const Kind& kind = kinds_[std::size_t(question.kind)];
  bool has_parameter = question.cast_input >= 0;
  for (std::size_t i = 0; i < question.given.size(); ++i) {
    has_parameter |=
        question.given[i] == DescNumbers::kNone && kind.use.arrivals[i] == Arrival::parameter;
  }
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const Choice& choice = choices_[i];
    if (choice.is_graph || choice.name == "grad_cast_once") continue;  // decided elsewhere
    const bool is_consulted = choice.rule == nullptr ? kind.choice == i
                              : choice.name == "weight_format_init"
                                  ? has_parameter
                                  : consults_rules(*kind.node.problem.op);
    if (is_consulted) result.push_back(i);
  }
  return result;
}

PlanSetting TaskOutcomes::setting_for(const TaskQuestion& question, std::size_t combination) const {
  const Kind& kind = kinds_[std::size_t(question.kind)];
  PlanSetting setting = written_;
  if (kind.choice) choices_[*kind.choice].set(setting, kind.word);
  for (const std::size_t choice : question.choices) {
    const std::size_t words = choices_[choice].words.size();
    choices_[choice].set(setting, combination % words);
    combination /= words;
  }
  return setting;
}

void TaskOutcomes::answer(TaskQuestion& question) {
  std::size_t combinations = 1;
  for (const std::size_t choice : question.choices) combinations *= choices_[choice].words.size();
  for (std::size_t i = 0; i < combinations; ++i) {
    question.outcomes.push_back(number_of(plan(question, i), question));
  }
  for (std::size_t i = question.choices.size(); i-- > 0;) leave_out(question, i);
}

int TaskOutcomes::number_of(TaskOutcome outcome, const TaskQuestion& question) {
  for (const int other : question.outcomes) {
    if (outcomes_[std::size_t(other)] == outcome) return other;
  }
  outcomes_.push_back(std::move(outcome));
  return static_cast<int>(outcomes_.size()) - 1;
}

// Removes a choice whose words all have the same outcome.
void TaskOutcomes::leave_out(TaskQuestion& question, std::size_t choice) const {
  std::size_t stride = 1;
  for (std::size_t i = 0; i < choice; ++i) stride *= choices_[question.choices[i]].words.size();
  const std::size_t words = choices_[question.choices[choice]].words.size();
  std::vector<int> kept;
  for (std::size_t i = 0; i < question.outcomes.size(); ++i) {
    const std::size_t word = i / stride % words;
    if (question.outcomes[i] != question.outcomes[i - word * stride]) return;
    if (word == 0) kept.push_back(question.outcomes[i]);
  }
  question.outcomes = std::move(kept);
  question.choices.erase(question.choices.begin() + std::ptrdiff_t(choice));
}

TaskOutcome TaskOutcomes::plan(const TaskQuestion& question, std::size_t combination) {
  const Kind& kind = kinds_[std::size_t(question.kind)];
  NodeUse use = kind.use;
  use.node = &kind.node;
  for (std::size_t i = 0; i < question.given.size(); ++i) {
    if (question.given[i] == DescNumbers::kNone) continue;
    use.given[i] = descs_[question.given[i]];
    use.arrivals[i] = Arrival::stored;
  }
  const PlanSetting setting = setting_for(question, combination);
  NodePlanner planner(setting.variants, setting.rules);
  try {
    if (question.cast_input < 0) return outcome_of(planner.plan(use), kind.node);
    TaskOutcome outcome;
    const std::optional<TensorDesc> stored =
        planner.stored_for(use, std::size_t(question.cast_input), question.dtype);
    outcome.stored = {stored ? descs_.of(*stored) : DescNumbers::kNone};
    return outcome;
  } catch (const Error&) {
    TaskOutcome impossible;
    impossible.is_possible = false;
    return impossible;
  }
}

TaskOutcome TaskOutcomes::outcome_of(const NodePlan& plan, const Node& node) {
  TaskOutcome outcome;
  Node call;
  call.problem = plan.problem;
  outcome.cost = task_cost(call, *plan.kernel);
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const PlanCost cost = cost_of(plan.inputs[i]);
    outcome.stored.push_back(descs_.of(plan.stored[i]));
    if (node.shares_conversions == 0) {
      outcome.cost += cost;
      continue;
    }
    outcome.shareable.push_back(cost);
    outcome.converted_to.push_back(
        plan.inputs[i].empty() ? DescNumbers::kNone : descs_.of(plan.inputs[i].back().result()));
  }
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const ConversionPath& path = plan.outputs[i];
    outcome.cost += cost_of(path);
    outcome.written.push_back(
        descs_.of(path.empty() ? plan.problem.outputs[i] : path.back().result()));
  }
  return outcome;
}

}  // namespace opbench
