#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/choices.h"
#include "harness/plan/context_graph.h"
#include "harness/plan/plan_tasks.h"
#include "harness/plan/task_outcomes.h"

namespace opbench {

/// A task of a graph whose plans are searched. Tensors are numbers of the graph's tensors.
struct SearchTask {
  int kind = 0;
  std::vector<int> inputs, outputs;
  int shares_conversions = 0;  ///< with the tasks of the same number; 0: not shared
  /// For a cast of a parameter: the task that reads the cast, and the index of the input. -1: none.
  int reader = -1, reader_input = -1;
  DType dtype = DType::fp32;  ///< dtype of the cast's output
};

/// The graph of one point of the choices that decide on the graph.
struct SearchGraph {
  Point point;  ///< the other choices are 0
  std::vector<SearchTask> tasks;
  std::vector<int> stored;  ///< storage of each tensor; kNone: not stored yet
};

/// A plan that the search found.
struct FoundPlan {
  Point point;
  PlanCost cost;
};

/// Searches the plans of a context over its choices without building them. One walk through the
/// tasks plans all settings at once (branch and bound). It forks at a choice that makes a
/// difference, and stops where the cost exceeds the best known plan.
class PlanSearch {
 public:
  /// All arguments must outlive this object. At most `most_tasks` tasks are planned.
  PlanSearch(const LogicalGraph& values, const std::vector<Choice>& choices,
             const PlanSetting& written, std::int64_t most_tasks);

  /// Cost of the plan of a point; none: a task has no kernel.
  std::optional<PlanCost> cost_of(const Point& point);

  /// Searches all points of a graph for plans that are better than `best`, or equal with fewer
  /// changes.
  void search(const SearchGraph& graph, FoundPlan& best);

  /// The graph of a point. Points with equal graphs share it.
  const SearchGraph& graph_of(const Point& point);

  /// False once `most_tasks` tasks were planned; the search is incomplete then.
  bool is_complete() const { return planned_ <= most_tasks_; }
  std::int64_t tasks_planned() const { return planned_; }
  std::int64_t plans_completed() const { return completed_; }
  TaskOutcomes& outcomes() { return outcomes_; }

 private:
  using Domain = std::vector<std::uint32_t>;  // a bit for each open word, by choice
  using OutcomesByWord = std::vector<std::vector<std::vector<int>>>;  // outcomes by choice and word
  struct State;
  struct Fork {
    std::size_t choice;
    std::vector<std::uint32_t> parts;  // groups of words with equal outcomes, cheapest first
  };

  SearchGraph written_as(const Point& point);
  void walk(const SearchGraph& graph, std::size_t first, State state, FoundPlan& best);
  void fork(const SearchGraph& graph, std::size_t task, const State& state, const Fork& fork,
            FoundPlan& best);
  std::optional<std::size_t> decided_combination(const TaskQuestion& question,
                                                 const Domain& domain) const;
  OutcomesByWord word_outcomes(const TaskQuestion& question, const Domain& domain) const;
  std::vector<std::uint32_t> parts_of(const std::vector<std::vector<int>>& outcomes_by_word) const;
  std::optional<Fork> settle(const TaskQuestion& question, const Domain& domain,
                             int& outcome) const;
  std::optional<Fork> store_parameter(const SearchGraph& graph, const SearchTask& task,
                                      State& state);
  std::optional<Fork> plan(const SearchTask& task, State& state);
  std::optional<Fork> share(const SearchTask& task, const TaskOutcome& outcome, State& state);
  void complete(const SearchGraph& graph, const State& state, FoundPlan& best);
  const std::vector<int>& given_to(const SearchTask& task, const State& state);

  const LogicalGraph& values_;
  const std::vector<Choice>& choices_;
  const PlanSetting& written_;
  const std::int64_t most_tasks_;
  TaskOutcomes outcomes_;
  std::map<Point, std::shared_ptr<const SearchGraph>> graphs_;
  std::map<std::string, std::shared_ptr<const SearchGraph>> distinct_;  // by their tasks
  std::size_t grad_cast_once_ = 0;                                      // index of that choice
  std::vector<int> given_;
  std::int64_t planned_ = 0, completed_ = 0;
};

}  // namespace opbench
