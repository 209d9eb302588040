#include "harness/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace opbench::check {
namespace {

// Compared with something: what is new is no proof that nothing became worse.
bool is_judged(const Item& item) {
  return item.verdict != Verdict::incomparable && item.verdict != Verdict::new_ &&
         !item.is_unfinished;
}

// What needs action first.
int urgency(const Item& item) {
  if (item.is_regression) return 0;
  switch (item.verdict) {
    case Verdict::error:
      return 1;
    case Verdict::slower:
      return 2;
    case Verdict::gone:
      return 3;
    case Verdict::ambiguous:
      return 4;
    case Verdict::layout:
      return 5;
    case Verdict::incomparable:
      return 6;
    case Verdict::new_:
      return 7;
    case Verdict::faster:
      return 8;
    case Verdict::same:
      return 9;
  }
  return 9;
}

using CaseAndThreads = std::pair<std::string, int>;

// Neither slower nor the same, as far as the budget went.
bool has_undecided(const Report& report) {
  return std::any_of(report.items.begin(), report.items.end(), [](const Item& item) {
    return item.is_unfinished && item.verdict == Verdict::ambiguous;
  });
}

bool is_over(const Report& report) {
  return report.fail_over_percent && report.slower_percent() > *report.fail_over_percent;
}

// By the flags, where the verdict alone does not. `is_over`: of the report.
bool fails_by_flags(const Report& report, const Item& item, bool is_over) {
  if (item.waived) return false;
  const bool fails_open = report.fails_on_ambiguous && !report.is_too_noisy;
  return (is_over && item.verdict == Verdict::slower) ||
         (fails_open && item.verdict == Verdict::ambiguous);
}

bool has_failure(const Report& report) {
  return std::any_of(report.items.begin(), report.items.end(),
                     [&, over = is_over(report)](const Item& item) {
                       return item.is_regression || fails_by_flags(report, item, over);
                     });
}

// What fails only for being undecided is none.
bool has_regression(const Report& report) {
  return is_over(report) ||
         std::any_of(report.items.begin(), report.items.end(), [](const Item& item) {
           return item.is_regression && item.verdict != Verdict::ambiguous;
         });
}

CaseAndThreads case_of(const Item& item) { return {item.case_id, item.threads}; }

bool is_weighed(const Item& item) { return item.speed && !item.context && !item.is_first_call; }

/// The time that the fastest variant of each case takes.
std::map<CaseAndThreads, double> fastest_times(const std::vector<Item>& items) {
  std::map<CaseAndThreads, double> fastest;
  for (const Item& item : items) {
    if (!is_weighed(item)) continue;
    const auto [place, is_new] = fastest.emplace(case_of(item), item.speed->base_us);
    if (!is_new) place->second = std::min(place->second, item.speed->base_us);
  }
  return fastest;
}

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"SLOWER", "FASTER",       "SAME",  "AMBIGUOUS", "NEW",
                                         "GONE",   "INCOMPARABLE", "ERROR", "LAYOUT"};
  return kNames[static_cast<std::size_t>(verdict)];
}

double SpeedRule::floor_share(double base_us) const {
  return std::min(floor_us / base_us, most_floor_share);
}

double Report::slower_percent() const {
  std::map<CaseAndThreads, double> worst;
  for (const Item& item : items) {
    if (item.verdict != Verdict::slower || item.waived || !item.network_percent) continue;
    double& share = worst[case_of(item)];
    share = std::max(share, *item.network_percent);
  }
  std::map<int, double> by_threads;  // each number of threads is a step of its own
  for (const auto& [key, share] : worst) by_threads[key.second] += share;
  double largest = 0;
  for (const Item& item : items) {
    const bool is_step = item.context && !item.is_first_call;
    if (item.verdict != Verdict::slower || item.waived || !is_step) continue;
    largest = std::max(largest, 100 * item.speed->change);
  }
  for (const auto& [threads, share] : by_threads) largest = std::max(largest, share);
  return largest;
}

void Report::mark_failures() {
  const bool over = is_over(*this);
  for (Item& item : items) {
    item.is_regression = item.is_regression || fails_by_flags(*this, item, over);
  }
}

int Report::count(Verdict verdict) const {
  return static_cast<int>(std::count_if(items.begin(), items.end(),
                                        [&](const Item& item) { return item.verdict == verdict; }));
}

ExitCode Report::exit_code() const {
  if (was_interrupted) return kCouldNotFinish;
  if (has_failure(*this)) return kVerdictFailed;
  if (std::any_of(items.begin(), items.end(),
                  [](const Item& item) { return item.is_unfinished; })) {
    return kCouldNotFinish;
  }
  if (std::none_of(items.begin(), items.end(), is_judged)) return kNothingToJudge;
  return is_too_noisy ? kTooNoisy : kAllWell;
}

std::string outcome_text(const Report& report) {
  switch (report.exit_code()) {
    case kAllWell:
      return "No regression";
    case kVerdictFailed:
      return has_regression(report) ? "REGRESSION" : "AMBIGUOUS";
    case kCouldNotFinish:
      return report.was_interrupted  ? "INTERRUPTED"
             : has_undecided(report) ? "UNDECIDED"
                                     : "COULD NOT FINISH";
    case kNothingToJudge:
      return "NOTHING TO JUDGE";
    default:
      return "TOO NOISY to judge speed; accuracy was judged";
  }
}

void weigh_and_sort(std::vector<Item>& items) {
  const auto fastest = fastest_times(items);
  std::map<CaseAndThreads, int> counts;
  for (const Item& item : items) counts[case_of(item)] = item.count;
  std::map<int, double> networks;
  for (const auto& [key, us] : fastest) networks[key.second] += us * counts[key];
  for (Item& item : items) {
    if (!is_weighed(item)) continue;
    const double others = networks[item.threads] - fastest.at(case_of(item)) * item.count;
    const double network = others + item.speed->base_us * item.count;
    item.network_percent = 100 * item.count * item.speed->base_us * item.speed->change / network;
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    const auto harm = [](const Item& item) {
      return item.network_percent ? -*item.network_percent
                                  : -std::numeric_limits<double>::infinity();
    };
    return std::tuple(urgency(a), harm(a)) < std::tuple(urgency(b), harm(b));
  });
}

}  // namespace opbench::check
