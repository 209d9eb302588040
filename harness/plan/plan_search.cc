#include "harness/plan/plan_search.h"

#include <algorithm>
#include <bit>

#include "harness/plan/format_plan.h"
#include "harness/plan/lowering.h"

namespace opbench {

/// State of a walk.
struct PlanSearch::State {
  std::vector<int> stored;  // storage of each tensor
  Domain domain;
  PlanCost cost;
  bool is_possible = true;
  int share = 0;                               // number of the tasks that share conversions ...
  std::vector<std::pair<int, int>> converted;  // ... and these: tensor, target storage
};

PlanSearch::PlanSearch(const LogicalGraph& values, const std::vector<Choice>& choices,
                       const PlanSetting& written, std::int64_t most_tasks)
    : values_(values),
      choices_(choices),
      written_(written),
      most_tasks_(most_tasks),
      outcomes_(choices, written) {
  const auto found = std::find_if(choices.begin(), choices.end(), [](const Choice& choice) {
    return choice.name == "grad_cast_once";
  });
  grad_cast_once_ = std::size_t(found - choices.begin());
}

const SearchGraph& PlanSearch::graph_of(const Point& point) {
  Point own(point.size());
  for (std::size_t i = 0; i < point.size(); ++i) own[i] = choices_[i].is_graph ? point[i] : 0;
  std::shared_ptr<const SearchGraph>& known = graphs_[own];
  if (known != nullptr) return *known;
  SearchGraph graph = written_as(own);
  std::string text;
  for (const SearchTask& task : graph.tasks) {
    for (const auto* numbers : {&task.inputs, &task.outputs}) {
      for (const int number : *numbers) text += std::to_string(number) + ' ';
      text += ';';
    }
    text += std::to_string(task.kind) + '\n';
  }
  std::shared_ptr<const SearchGraph>& same = distinct_[text];
  if (same == nullptr) same = std::make_shared<const SearchGraph>(std::move(graph));
  return *(known = same);
}

SearchGraph PlanSearch::written_as(const Point& point) {
  const PlanSetting setting = setting_of(choices_, written_, point);
  const LogicalGraph logical = lower(values_, setting.variants, setting.rules);
  const Readers readers(logical);
  SearchGraph graph{point, {}, std::vector<int>(logical.graph.tensors.size(), DescNumbers::kNone)};
  for (const auto& [tensor, format] : logical.arriving) {
    const TensorDesc& given = logical.graph.tensors[tensor].desc;
    graph.stored[tensor] = outcomes_.descs().of(describe(given.dtype, given.shape, format));
  }
  for (const Node& node : logical.graph.nodes) {
    NodeUse use{&node, {}, {}, readers.dtypes_of(logical, node)};
    for (const std::size_t input : node.inputs) {
      use.given.push_back(logical.graph.tensors[input].desc);
      use.arrivals.push_back(arrival_of(logical.graph.tensors[input]));
    }
    SearchTask task;
    task.kind = outcomes_.kind_of(use, point);
    task.inputs.assign(node.inputs.begin(), node.inputs.end());
    task.outputs.assign(node.outputs.begin(), node.outputs.end());
    task.shares_conversions = node.shares_conversions;
    const bool is_cast = node.problem.op->context.conversion == Conversion::dtype;
    if (is_cast && use.arrivals[0] == Arrival::parameter) {
      const auto [reader, input] = readers.first[node.outputs[0]];
      if (reader != nullptr) {
        task.reader = static_cast<int>(reader - logical.graph.nodes.data());
        task.reader_input = static_cast<int>(input);
        task.dtype = use.given[0].dtype;
      }
    }
    graph.tasks.push_back(std::move(task));
  }
  return graph;
}

std::optional<PlanCost> PlanSearch::cost_of(const Point& point) {
  const SearchGraph& graph = graph_of(point);
  State state;
  state.stored = graph.stored;
  for (const std::size_t word : point) state.domain.push_back(1u << word);
  for (const SearchTask& task : graph.tasks) {
    store_parameter(graph, task, state);
    plan(task, state);
    ++planned_;
    if (!state.is_possible) return std::nullopt;
  }
  return state.cost;
}

void PlanSearch::search(const SearchGraph& graph, FoundPlan& best) {
  State state;
  state.stored = graph.stored;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const auto words = std::uint32_t(choices_[i].words.size());
    state.domain.push_back(choices_[i].is_graph ? 1u << graph.point[i] : (1u << words) - 1);
  }
  walk(graph, 0, std::move(state), best);
}

void PlanSearch::walk(const SearchGraph& graph, std::size_t first, State state, FoundPlan& best) {
  for (std::size_t i = first; i < graph.tasks.size(); ++i) {
    const SearchTask& task = graph.tasks[i];
    if (const auto parts = store_parameter(graph, task, state)) {
      return fork(graph, i, state, *parts, best);
    }
    if (const auto parts = plan(task, state)) return fork(graph, i, state, *parts, best);
    ++planned_;
    if (!state.is_possible || state.cost > best.cost || !is_complete()) return;
  }
  complete(graph, state, best);
}

void PlanSearch::fork(const SearchGraph& graph, std::size_t task, const State& state,
                      const Fork& fork, FoundPlan& best) {
  for (const std::uint32_t part : fork.parts) {
    State next = state;
    next.domain[fork.choice] = part;
    walk(graph, task, std::move(next), best);
  }
}

void PlanSearch::complete(const SearchGraph& graph, const State& state, FoundPlan& best) {
  ++completed_;
  FoundPlan found{graph.point, state.cost};
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    found.point[i] = std::size_t(std::countr_zero(state.domain[i]));
  }
  const bool is_simpler =
      found.cost == best.cost && changes_of(found.point) < changes_of(best.point);
  if (found.cost < best.cost || is_simpler) best = std::move(found);
}

// The combination that is left; none: several are left.
std::optional<std::size_t> PlanSearch::decided_combination(const TaskQuestion& question,
                                                           const Domain& domain) const {
  std::size_t combination = 0, stride = 1;
  for (const std::size_t choice : question.choices) {
    if (!std::has_single_bit(domain[choice])) return std::nullopt;
    combination += stride * std::size_t(std::countr_zero(domain[choice]));
    stride *= choices_[choice].words.size();
  }
  return combination;
}

// Outcomes of the open combinations, by choice and word.
PlanSearch::OutcomesByWord PlanSearch::word_outcomes(const TaskQuestion& question,
                                                     const Domain& domain) const {
  OutcomesByWord by_word;
  for (const std::size_t choice : question.choices) {
    by_word.emplace_back(choices_[choice].words.size());
  }
  std::vector<std::size_t> words(question.choices.size());
  for (std::size_t i = 0; i < question.outcomes.size(); ++i) {
    std::size_t rest = i;
    bool is_open = true;
    for (std::size_t c = 0; c < words.size(); ++c) {
      words[c] = rest % by_word[c].size();
      rest /= by_word[c].size();
      is_open &= (domain[question.choices[c]] >> words[c] & 1) != 0;
    }
    for (std::size_t c = 0; is_open && c < words.size(); ++c) {
      by_word[c][words[c]].push_back(question.outcomes[i]);
    }
  }
  return by_word;
}

// Groups words with equal outcomes. The group with the cheapest outcome comes first.
std::vector<std::uint32_t> PlanSearch::parts_of(
    const std::vector<std::vector<int>>& outcomes_by_word) const {
  std::map<std::vector<int>, std::uint32_t> parts;
  for (std::size_t word = 0; word < outcomes_by_word.size(); ++word) {
    if (!outcomes_by_word[word].empty()) parts[outcomes_by_word[word]] |= 1u << word;
  }
  std::vector<std::pair<PlanCost, std::uint32_t>> order;
  for (const auto& [numbers, part] : parts) {
    PlanCost least = outcomes_[numbers.front()].cost;
    for (const int number : numbers) least = std::min(least, outcomes_[number].cost);
    order.emplace_back(least, part);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::uint32_t> sorted;
  for (const auto& [cost, part] : order) sorted.push_back(part);
  return sorted;
}

// Sets the outcome if it is equal for all open words. Otherwise returns a fork at the first choice
// with different outcomes.
std::optional<PlanSearch::Fork> PlanSearch::settle(const TaskQuestion& question,
                                                   const Domain& domain, int& outcome) const {
  if (const auto decided = decided_combination(question, domain)) {
    outcome = question.outcomes[*decided];
    return std::nullopt;
  }
  const OutcomesByWord by_word = word_outcomes(question, domain);
  for (std::size_t c = 0; c < by_word.size(); ++c) {
    std::vector<std::uint32_t> parts = parts_of(by_word[c]);
    if (parts.size() > 1) return Fork{question.choices[c], std::move(parts)};
  }
  const auto open = std::size_t(std::countr_zero(domain[question.choices[0]]));
  outcome = by_word[0][open].front();
  return std::nullopt;
}

const std::vector<int>& PlanSearch::given_to(const SearchTask& task, const State& state) {
  given_.clear();
  for (const int input : task.inputs) given_.push_back(state.stored[std::size_t(input)]);
  return given_;
}

// A parameter that is cast first is stored in the format of the cast's reader.
std::optional<PlanSearch::Fork> PlanSearch::store_parameter(const SearchGraph& graph,
                                                            const SearchTask& task, State& state) {
  if (task.reader < 0) return std::nullopt;
  int& stored = state.stored[std::size_t(task.inputs[0])];
  if (stored != DescNumbers::kNone) return std::nullopt;
  const SearchTask& reader = graph.tasks[std::size_t(task.reader)];
  const TaskQuestion& question =
      outcomes_.ask_parameter(reader.kind, given_to(reader, state), task.reader_input, task.dtype);
  int outcome = 0;
  if (auto parts = settle(question, state.domain, outcome)) return parts;
  state.is_possible &= outcomes_[outcome].is_possible;
  if (outcomes_[outcome].is_possible) stored = outcomes_[outcome].stored.front();
  return std::nullopt;
}

std::optional<PlanSearch::Fork> PlanSearch::plan(const SearchTask& task, State& state) {
  if (!state.is_possible) return std::nullopt;
  const TaskQuestion& question = outcomes_.ask(task.kind, given_to(task, state));
  int number = 0;
  if (auto parts = settle(question, state.domain, number)) return parts;
  const TaskOutcome& outcome = outcomes_[number];
  state.is_possible &= outcome.is_possible;
  if (!state.is_possible) return std::nullopt;
  if (task.shares_conversions != 0) {
    if (auto parts = share(task, outcome, state)) return parts;
  }
  state.cost += outcome.cost;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    state.stored[std::size_t(task.inputs[i])] = outcome.stored[i];
  }
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    state.stored[std::size_t(task.outputs[i])] = outcome.written[i];
  }
  return std::nullopt;
}

// With grad_cast_once, conversions that an earlier task of the same number has made are reused.
// Returns a fork if that rule is open and makes a difference.
std::optional<PlanSearch::Fork> PlanSearch::share(const SearchTask& task,
                                                  const TaskOutcome& outcome, State& state) {
  std::vector<std::pair<int, int>> converted;
  if (state.share == task.shares_conversions) converted = state.converted;
  const Choice& rule = choices_[grad_cast_once_];
  const auto on =
      std::size_t(std::find(rule.words.begin(), rule.words.end(), "true") - rule.words.begin());
  const std::uint32_t domain = state.domain[grad_cast_once_];
  PlanCost cost;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    if (outcome.converted_to[i] == DescNumbers::kNone) continue;
    const std::pair key{task.inputs[i], outcome.converted_to[i]};
    const bool is_there = std::find(converted.begin(), converted.end(), key) != converted.end();
    if (is_there && std::popcount(domain) > 1) {
      return Fork{grad_cast_once_, {1u << on, domain & ~(1u << on)}};
    }
    if (!is_there) converted.push_back(key);
    if (!is_there || (domain >> on & 1) == 0) cost += outcome.shareable[i];
  }
  state.cost += cost;
  state.share = task.shares_conversions;
  state.converted = std::move(converted);
  return std::nullopt;
}

}  // namespace opbench
