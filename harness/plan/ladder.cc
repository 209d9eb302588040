#include "harness/plan/ladder.h"

#include <algorithm>
#include <functional>

namespace opbench {
namespace {

using Places = std::vector<std::size_t>;

// Calls `visit` with every set of `count` of the places, in their order.
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

// The cheapest plan with `count` of the changes that are left; `here` if none costs less.
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

// Tries every word of every choice; true if one spares something.
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

// Tries every two words of two choices.
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

std::vector<FoundPlan> ladder_to(const FoundPlan& best, const PlanCost& before,
                                 PlanSearch& search) {
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

}  // namespace opbench
