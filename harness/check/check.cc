#include "harness/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "harness/check/report.h"
#include "harness/report/text.h"
#include "text/program.h"

namespace opbench::check {
namespace {

// True if the item was compared. A new item does not show that nothing became worse.
bool is_judged(const CheckedItem& item) {
  return item.verdict != ChangeVerdict::incomparable && item.verdict != ChangeVerdict::new_ &&
         !item.is_unfinished;
}

// Sort key: the verdicts that need action come first.
std::ptrdiff_t urgency(const CheckedItem& item) {
  if (item.is_regression) return -1;
  return std::ranges::find(kAllVerdicts, item.verdict) - kAllVerdicts.begin();
}

using CaseAndThreads = std::pair<std::string, int>;

// True if the budget ended before an item was decided.
bool has_undecided(const CheckReport& report) {
  return std::any_of(report.items.begin(), report.items.end(), [](const CheckedItem& item) {
    return item.is_unfinished && item.verdict == ChangeVerdict::ambiguous;
  });
}

// The first cause and the number of further causes. Failures of programs come before items that the
// budget did not reach.
std::string unfinished_text(const CheckReport& report) {
  std::vector<std::string> causes = report.failures, open;
  for (const CheckedItem& item : report.items) {
    if (!item.is_unfinished) continue;
    auto& place = item.verdict == ChangeVerdict::ambiguous ? open : causes;
    const bool names_program = item.verdict == ChangeVerdict::ambiguous ||
                               report.base_name.empty() ||
                               item.evidence.find(report.base_name) != std::string::npos;
    place.push_back(
        fmt::format("{} {}: {}{}", name(item.verdict), title_of(item), item.evidence,
                    names_program ? "" : fmt::format("; the baseline is '{}'", report.base_name)));
  }
  causes.insert(causes.end(), open.begin(), open.end());
  return causes.size() == 1 ? causes.front()
                            : fmt::format("{}; and {} more", causes.front(), causes.size() - 1);
}

bool is_over(const CheckReport& report) {
  return report.fail_over_percent && report.slower_percent() > *report.fail_over_percent;
}

// True if flags make the item a failure although its verdict alone does not. `is_over`: the report
// is over `fail_over_percent`.
bool fails_by_flags(const CheckReport& report, const CheckedItem& item, bool is_over) {
  if (item.waived) return false;
  return (is_over && item.verdict == ChangeVerdict::slower) ||
         (report.fails_on_ambiguous && item.verdict == ChangeVerdict::ambiguous);
}

bool has_failure(const CheckReport& report) {
  return std::any_of(report.items.begin(), report.items.end(),
                     [&, over = is_over(report)](const CheckedItem& item) {
                       return item.is_regression || fails_by_flags(report, item, over);
                     });
}

// An item that fails only because it is undecided is not a regression.
bool has_regression(const CheckReport& report) {
  return is_over(report) ||
         std::any_of(report.items.begin(), report.items.end(), [](const CheckedItem& item) {
           return item.is_regression && item.verdict != ChangeVerdict::ambiguous;
         });
}

CaseAndThreads case_of(const CheckedItem& item) { return {item.case_id, item.threads}; }

// Time of one call; 0: unknown.
double time_of(const CheckedItem& item) {
  return item.speed ? item.speed->base_us : item.same_code_us;
}

bool is_weighed(const CheckedItem& item) {
  return time_of(item) > 0 && !item.context && !item.is_first_call;
}

/// Time of the fastest variant of each case.
std::map<CaseAndThreads, double> fastest_times(const std::vector<CheckedItem>& items) {
  std::map<CaseAndThreads, double> fastest;
  for (const CheckedItem& item : items) {
    if (!is_weighed(item)) continue;
    const auto [place, is_new] = fastest.emplace(case_of(item), time_of(item));
    if (!is_new) place->second = std::min(place->second, time_of(item));
  }
  return fastest;
}

}  // namespace

std::string_view name(ChangeVerdict verdict) {
  constexpr std::string_view kNames[] = {"SLOWER", "FASTER", "SAME",         "AMBIGUOUS",
                                         "NEW",    "GONE",   "INCOMPARABLE", "ERROR"};
  return kNames[static_cast<std::size_t>(verdict)];
}

bool is_well(ChangeVerdict verdict) {
  return verdict == ChangeVerdict::same || verdict == ChangeVerdict::faster;
}

double SpeedRule::floor_share(double base_us) const {
  return std::min(floor_us / base_us, most_floor_share);
}

double CheckReport::slower_percent() const {
  std::map<CaseAndThreads, double> worst;
  for (const CheckedItem& item : items) {
    if (item.verdict != ChangeVerdict::slower || item.waived || !item.network_percent) continue;
    double& share = worst[case_of(item)];
    share = std::max(share, *item.network_percent);
  }
  std::map<int, double> by_threads;  // each number of threads is a network run of its own
  for (const auto& [key, share] : worst) by_threads[key.second] += share;
  double largest = 0;
  for (const CheckedItem& item : items) {
    const bool is_step = item.context && !item.is_first_call;
    if (item.verdict != ChangeVerdict::slower || item.waived || !is_step) continue;
    largest = std::max(largest, 100 * item.speed->change);
  }
  for (const auto& [threads, share] : by_threads) largest = std::max(largest, share);
  return largest;
}

void CheckReport::mark_failures() {
  const bool over = is_over(*this);
  for (CheckedItem& item : items) {
    item.is_regression = item.is_regression || fails_by_flags(*this, item, over);
  }
}

int CheckReport::count(ChangeVerdict verdict) const {
  return static_cast<int>(std::count_if(items.begin(), items.end(), [&](const CheckedItem& item) {
    return item.verdict == verdict;
  }));
}

int CheckReport::too_noisy() const {
  return static_cast<int>(std::count_if(items.begin(), items.end(), [](const CheckedItem& item) {
    return item.is_too_noisy && !item.waived;
  }));
}

ExitCode CheckReport::exit_code() const {
  if (was_interrupted) return kCouldNotFinish;
  if (has_failure(*this)) return kVerdictFailed;
  const bool is_unfinished = std::any_of(
      items.begin(), items.end(), [](const CheckedItem& item) { return item.is_unfinished; });
  if (is_unfinished || !failures.empty()) return kCouldNotFinish;
  if (std::none_of(items.begin(), items.end(), is_judged)) return kNothingToJudge;
  return too_noisy() > 0 ? kTooNoisy : kAllWell;
}

std::string outcome_text(const CheckReport& report) {
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
      return "TOO NOISY";
  }
}

std::string reason_text(const CheckReport& report) {
  const std::size_t all = report.items.size();
  switch (report.exit_code()) {
    case kCouldNotFinish:
      return report.was_interrupted ? "interrupted" : unfinished_text(report);
    case kNothingToJudge:
      return all == 0
                 ? "no case is selected; check --op, --shapes, --cases, --case and --filter"
                 : fmt::format(
                       "nothing to compare: no result of {} is in both builds and correct in both",
                       all);
    case kTooNoisy:
      return fmt::format(
          "nothing looks slower, but noise may hide a slowdown of {} of {}; stop other programs, "
          "use --threads 1 or a longer --budget, and run {} doctor",
          report.too_noisy(), all, program_name());
    default:
      return {};
  }
}

void weigh_and_sort(std::vector<CheckedItem>& items) {
  const auto fastest = fastest_times(items);
  std::map<CaseAndThreads, int> counts;
  for (const CheckedItem& item : items) counts[case_of(item)] = item.count;
  std::map<int, double> networks;
  for (const auto& [key, us] : fastest) networks[key.second] += us * counts[key];
  for (CheckedItem& item : items) {
    if (!is_weighed(item) || !item.speed) continue;
    const double others = networks[item.threads] - fastest.at(case_of(item)) * item.count;
    const double network = others + item.speed->base_us * item.count;
    item.network_percent = 100 * item.count * item.speed->base_us * item.speed->change / network;
  }
  std::stable_sort(items.begin(), items.end(), [](const CheckedItem& a, const CheckedItem& b) {
    const auto harm = [](const CheckedItem& item) {
      return item.network_percent ? -*item.network_percent
                                  : -std::numeric_limits<double>::infinity();
    };
    return std::tuple(urgency(a), harm(a)) < std::tuple(urgency(b), harm(b));
  });
}

std::string title_of(const CheckedItem& item) {
  std::string title = report::with_short_lists(item.case_key);
  if (!item.variant.empty()) {
    title = item.context ? fmt::format("step {} of {}", item.variant, title)
                         : fmt::format("{} on {}", item.variant, title);
    if (item.is_first_call) title = "first call of " + title;
  }
  if (!item.case_name.empty()) title += fmt::format(" ({} x{})", item.case_name, item.count);
  return fmt::format("{}, {} thread{}", title, item.threads, item.threads == 1 ? "" : "s");
}

}  // namespace opbench::check
