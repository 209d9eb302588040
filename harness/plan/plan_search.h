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

/// A task of a graph whose plans are searched; tensors are numbers of the graph's.
struct SearchTask {
  int kind = 0;
  std::vector<int> inputs, outputs;
  int shares_conversions = 0;  ///< with the tasks of the same number; 0: with nobody
  /// Of a cast of a parameter: the task that reads what it writes, and as which input. -1: none.
  int reader = -1, reader_input = -1;
  DType dtype = DType::fp32;  ///< of that parameter
};

/// A graph as one point of the choices that decide on it writes it.
struct SearchGraph {
  Point point;  ///< the other choices are 0
  std::vector<SearchTask> tasks;
  std::vector<int> stored;  ///< how each tensor arrives; kNone: nobody has stored it
};

/// A plan that was found.
struct FoundPlan {
  Point point;
  PlanCost cost;
};

/// The plans of a context by what is chosen, without writing any of them down. One walk through the
/// tasks plans all settings at once: it forks where a choice first makes a difference, and goes no
/// further where it costs more than the best plan that is known.
class PlanSearch {
 public:
  /// All outlive this. At most `most_tasks` tasks are planned.
  PlanSearch(const LogicalGraph& values, const std::vector<Choice>& choices,
             const PlanSetting& written, std::int64_t most_tasks);

  /// What the plan of a point costs; none: some task has no kernel then.
  std::optional<PlanCost> cost_of(const Point& point);

  /// Looks through all points of a graph for plans better than `best`, or as good with fewer
  /// changes.
  void search(const SearchGraph& graph, FoundPlan& best);

  /// The graph of a point. Points that write the same share it.
  const SearchGraph& graph_of(const Point& point);

  /// False once `most_tasks` tasks were planned, and the search is not complete.
  bool is_complete() const { return planned_ <= most_tasks_; }
  std::int64_t tasks_planned() const { return planned_; }
  std::int64_t plans_completed() const { return completed_; }
  TaskOutcomes& outcomes() { return outcomes_; }

 private:
  using Domain = std::vector<std::uint32_t>;  // a bit for each word that is still open, by choice
  using Seen = std::vector<std::vector<std::vector<int>>>;  // outcomes by choice and word
  struct State;
  struct Fork {
    std::size_t choice;
    std::vector<std::uint32_t> parts;  // words that come to the same, the cheapest first
  };

  SearchGraph written_as(const Point& point);
  void walk(const SearchGraph& graph, std::size_t first, State state, FoundPlan& best);
  void fork(const SearchGraph& graph, std::size_t task, const State& state, const Fork& fork,
            FoundPlan& best);
  std::optional<std::size_t> decided_combination(const TaskQuestion& question,
                                                 const Domain& domain) const;
  Seen seen_by_word(const TaskQuestion& question, const Domain& domain) const;
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
  std::size_t grad_cast_once_ = 0;                                      // its choice
  std::vector<int> given_;
  std::int64_t planned_ = 0, completed_ = 0;
};

}  // namespace opbench
