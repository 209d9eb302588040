#include "harness/plan/remedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <stdexcept>

#include "harness/plan/context_graph.h"
#include "harness/plan/plan_search.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using Places = std::vector<std::size_t>;

// Calls `visit` with every subset of `count` places, in their order.
void for_each_set(const Places& places, std::size_t count, Places& taken, std::size_t first,
                  const std::function<void(const Places&)>& visit) {
  if (taken.size() == count) {
    visit(taken);
    return;
  }
  for (std::size_t i = first; i < places.size(); ++i) {
    taken.push_back(places[i]);
    for_each_set(places, count, taken, i + 1, visit);
    taken.pop_back();
  }
}

// The cheapest plan that makes `count` of the remaining changes; `here` if no such plan costs less.
FoundPlan step_of(std::size_t count, const FoundPlan& here, const FoundPlan& best,
                  const Places& left, PlanSearch& search) {
  FoundPlan next = here;
  Places taken;
  for_each_set(left, count, taken, 0, [&](const Places& changed) {
    Point point = here.point;
    for (const std::size_t place : changed) point[place] = best.point[place];
    const std::optional<PlanCost> cost = search.cost_of(point);
    if (cost && *cost < next.cost) next = {point, *cost};
  });
  return next;
}

// Tries every word of every choice. Returns true if a change lowers the cost.
bool improve_one(FoundPlan& here, const std::vector<Choice>& choices, PlanSearch& search) {
  FoundPlan next = here;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t word = 0; word < choices[i].words.size() && search.is_complete(); ++word) {
      Point point = here.point;
      point[i] = word;
      const std::optional<PlanCost> cost = search.cost_of(point);
      if (cost && *cost < next.cost) next = {point, *cost};
    }
  }
  const bool is_better = next.cost < here.cost;
  here = std::move(next);
  return is_better;
}

// Tries every pair of words of two choices.
bool improve_two(FoundPlan& here, const std::vector<Choice>& choices, PlanSearch& search) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t word = 0; word < choices[i].words.size() && search.is_complete(); ++word) {
      if (word == here.point[i]) continue;
      FoundPlan next = here;
      next.point[i] = word;
      const std::optional<PlanCost> cost = search.cost_of(next.point);
      if (!cost) continue;
      next.cost = *cost;
      improve_one(next, choices, search);
      if (next.cost < here.cost) {
        here = std::move(next);
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::vector<FoundPlan> steps_to(const FoundPlan& best, const PlanCost& before, PlanSearch& search) {
  std::vector<FoundPlan> steps;
  FoundPlan here{Point(best.point.size()), before};
  while (best.cost < here.cost) {
    Places left;
    for (std::size_t i = 0; i < best.point.size(); ++i) {
      if (best.point[i] != here.point[i]) left.push_back(i);
    }
    FoundPlan next = here;
    for (std::size_t count = 1; !(next.cost < here.cost) && count <= left.size(); ++count) {
      next = step_of(count, here, best, left, search);
    }
    here = next;
    steps.push_back(std::move(next));
  }
  return steps;
}

FoundPlan descend(FoundPlan start, const std::vector<Choice>& choices, PlanSearch& search) {
  do {
    while (improve_one(start, choices, search)) {
    }
  } while (improve_two(start, choices, search));
  return start;
}

namespace {

// Points of the choices that decide on the graph, those with few changes first. At most `most` of
// them, and one more if there are more.
std::vector<Point> graph_points(const std::vector<Choice>& choices, std::size_t most) {
  std::vector<Point> points = {Point(choices.size())};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!choices[i].is_graph) continue;
    const std::size_t before = points.size();
    for (std::size_t word = 1; word < choices[i].words.size(); ++word) {
      for (std::size_t p = 0; p < before && points.size() <= most; ++p) {
        points.push_back(points[p]);
        points.back()[i] = word;
      }
    }
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return changes_of(a) < changes_of(b); });
  return points;
}

/// The distinct graphs of all points, ordered by their lower bound.
struct BoundedGraphs {
  std::vector<std::pair<const SearchGraph*, LowerBound>> graphs;
  bool is_all = true;  // within the limits

  // Minimum over all graphs. The first graph has the fewest TransData.
  LowerBound least() const {
    LowerBound bound = graphs.front().second;
    for (const auto& [graph, own] : graphs) bound.casts = std::min(bound.casts, own.casts);
    return bound;
  }
};

BoundedGraphs bounded_graphs(const std::vector<Choice>& choices, const RemedyLimits& limits,
                             PlanSearch& search, LowerBounds bounds) {
  BoundedGraphs bounded;
  const std::vector<Point> points = graph_points(choices, limits.most_points);
  bounded.is_all = points.size() <= limits.most_points;
  std::set<const SearchGraph*> seen;
  std::size_t kept = 0;
  for (const Point& point : points) {
    if (kept > limits.most_kept) {
      bounded.is_all = false;
      break;
    }
    const SearchGraph& graph = search.graph_of(point);
    if (!seen.insert(&graph).second) continue;
    kept += graph.tasks.size();
    bounded.graphs.emplace_back(&graph, bounds.of(graph));
  }
  std::stable_sort(bounded.graphs.begin(), bounded.graphs.end(), [](const auto& a, const auto& b) {
    return a.second.trans_data < b.second.trans_data;
  });
  return bounded;
}

// Undoes changes that do not lower the cost.
void drop_idle_changes(FoundPlan& best, PlanSearch& search) {
  for (std::size_t i = 0; i < best.point.size(); ++i) {
    if (best.point[i] == 0) continue;
    Point without = best.point;
    without[i] = 0;
    const std::optional<PlanCost> cost = search.cost_of(without);
    if (cost && *cost <= best.cost) best = {without, *cost};
  }
}

std::vector<Change> changes_between(const Point& before, const Point& after,
                                    const std::vector<Choice>& choices) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (before[i] == after[i]) continue;
    changes.push_back({choices[i].name, choices[i].words[after[i]], choices[i].rule != nullptr});
  }
  return changes;
}

/// Cost and conversions of a plan.
struct PlannedWork {
  PlanCost cost;
  ConversionWork work;
};

ConversionWork conversion_work(const Graph& graph, const SelectedKernels& selection) {
  ConversionWork sum;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const PlanCost cost = task_cost(graph.nodes[i], *selection.kernels[i]);
    const auto add = [&](int calls, KernelWork& work) {
      work.calls += calls;
      work.bytes += calls * cost.bytes;
    };
    add(cost.trans_data, sum.trans_data);
    add(cost.casts, sum.casts);
    add(cost.copies, sum.copies);
  }
  return sum;
}

// A setting by the planner itself, so that the steps show exactly the plan that `run` executes.
PlannedWork planned_work(const Context& context, ContextStep step, const PlanSetting& setting,
                         DType dtype) {
  step.variants = setting.variants;
  step.rules = setting.rules;
  const PlannedStep planned = plan_step(context, step, dtype);
  if (!planned.refusal().empty()) {
    throw Error(fmt::format("{}: step '{}' cannot be planned: {}", step.origin, step.name,
                            planned.refusal()));
  }
  return {plan_cost(planned.graph, planned.selection),
          conversion_work(planned.graph, planned.selection)};
}

// Plans each step, and checks that the search counted what the plan has.
void plan_steps(const Context& context, const ContextStep& step, DType dtype, Remedy& remedy) {
  for (RemedyStep& found : remedy.steps) {
    const auto [cost, work] = planned_work(context, step, found.setting, dtype);
    found.work = work;
    if (cost == found.cost) continue;
    throw std::logic_error(fmt::format(
        "the search counts {} TransData, {} Cast, {} copies, {} bytes where the plan has {}, {}, "
        "{}, {}",
        found.cost.trans_data, found.cost.casts, found.cost.copies, found.cost.bytes,
        cost.trans_data, cost.casts, cost.copies, cost.bytes));
  }
}

}  // namespace

Remedy find_remedy(const Context& context, const ContextStep& step, DType dtype,
                   const RemedyLimits& limits) {
  const auto begin = std::chrono::steady_clock::now();
  Remedy remedy;
  remedy.start = step.name;
  remedy.written = {step.variants, step.rules};
  const PlannedWork written = planned_work(context, step, remedy.written, dtype);
  remedy.before = written.cost;
  remedy.work_before = written.work;
  const LogicalGraph values = build_context_graph(context, step, dtype);
  const std::vector<Choice> choices = choices_of(values, remedy.written);
  remedy.settings = 1;
  for (const Choice& choice : choices) remedy.settings *= double(choice.words.size());

  PlanSearch search(values, choices, remedy.written, limits.most_tasks);
  const FoundPlan start{Point(choices.size()), remedy.before};
  FoundPlan best = descend(start, choices, search);
  const BoundedGraphs bounded =
      bounded_graphs(choices, limits, search, {search, choices, remedy.written});
  for (const auto& [graph, bound] : bounded.graphs) {
    if (bound.trans_data <= best.cost.trans_data) search.search(*graph, best);
  }
  if (bounded.is_all) remedy.bound = bounded.least();
  remedy.is_proved = search.is_complete() && bounded.is_all;
  remedy.graphs = bounded.graphs.size();
  remedy.plans = search.plans_completed();
  remedy.tasks = search.tasks_planned();
  drop_idle_changes(best, search);
  Point before = start.point;
  for (const FoundPlan& found : steps_to(best, remedy.before, search)) {
    remedy.steps.push_back({changes_between(before, found.point, choices),
                            setting_of(choices, remedy.written, found.point), found.cost});
    before = found.point;
  }
  plan_steps(context, step, dtype, remedy);
  remedy.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return remedy;
}

}  // namespace opbench
