#include "harness/check/first_calls.h"

#include <algorithm>
#include <utility>

#include "harness/check/paired_times.h"

namespace opbench::check {
namespace {

// A copy of the variant without measurements; its results are known to be right.
ComparedVariant first_call_of(const ComparedVariant& variant) {
  ComparedVariant first;
  first.is_open = true;
  first.item = variant.item;
  first.base_results = variant.base_results;
  first.current_results = variant.current_results;
  first.item.is_first_call = true;
  first.item.notices.clear();
  first.item.waived_errors = std::nullopt;
  first.item.base_accuracy = first.item.current_accuracy = std::nullopt;
  first.item.base_conversions = first.item.current_conversions = std::nullopt;
  return first;
}

}  // namespace

FirstCalls::FirstCalls(std::vector<ComparedCase>& cases, Rounds& rounds, const Budget& budget,
                       std::function<SpeedRule(const ComparedCase&)> rule_of)
    : cases_(cases), rounds_(rounds), budget_(budget), rule_of_(std::move(rule_of)) {
  for (ComparedCase& compared : cases_) {
    for (const ComparedVariant& variant : compared.variants) {
      if (variant.is_timed()) compared.first_calls.push_back(first_call_of(variant));
    }
  }
}

void FirstCalls::compare(const Announce& announce, bool is_noisy) {
  for (const auto& [name, stage] : kStages) {
    const bool is_screening = stage == &PairedTimes::screening;
    const std::vector<Place> open = open_places(is_noisy && !is_screening);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!budget_.is_spent()) announce(i, open.size(), *open[i].compared);
      take(open[i], stage);
    }
  }
}

// Slowest first, because the budget may end.
std::vector<FirstCalls::Place> FirstCalls::open_places(bool only_suspects) const {
  std::vector<Place> open;
  for (ComparedCase& compared : cases_) {
    for (std::size_t i = 0; i < compared.first_calls.size(); ++i) {
      const ComparedVariant& first = compared.first_calls[i];
      if (first.is_open && (!only_suspects || first.finding.is_suspect)) {
        open.push_back({&compared, i});
      }
    }
  }
  std::stable_sort(open.begin(), open.end(), [this](const Place& a, const Place& b) {
    return at(a).finding.change.change > at(b).finding.change.change;
  });
  return open;
}

void FirstCalls::take(const Place& place, StageMember stage) {
  ComparedVariant& variant = at(place);
  const bool is_screening = stage == &PairedTimes::screening;
  const int pairs = is_screening ? kScreeningRounds : kVerdictRounds;
  if (!budget_.is_spent()) rounds_.take_first_calls(*place.compared, variant, stage, pairs);
  if (!variant.is_open) return;
  variant.times.is_cut = (variant.times.*stage).size() < static_cast<std::size_t>(pairs);
  if (is_screening && variant.times.is_cut) return variant.leave_unmeasured();
  variant.evaluate_times(rule_of_(*place.compared));
}

}  // namespace opbench::check
