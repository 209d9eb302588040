#include <fmt/format.h>

#include "profiles/finding_rules.h"
#include "profiles/task.h"
#include "text/fitted.h"

namespace opbench {
namespace {

/// Messages of one rule.
struct ToldProblems {
  std::int64_t count = 0;
  std::vector<Evidence> evidence;

  void add(const LogProblem& problem, std::int64_t times) {
    count += times;
    if (evidence.size() == kMostEvidence) return;
    const std::string op = problem.op.empty() ? "" : problem.op + ", ";
    evidence.push_back(
        {fmt::format("{}{}: {}", op, times_text(times), problem.text), problem.first});
  }
};

void report_problems(const ProfileView& view, std::string_view rule, std::string what,
                     ToldProblems told, std::vector<Finding>& found) {
  if (told.count == 0) return;
  Finding finding = view.finding(rule, std::move(what), 0, std::nullopt);
  finding.is_warning = rule != "cache_miss";
  finding.evidence = std::move(told.evidence);
  found.push_back(std::move(finding));
}

// Every operator misses the cache on its first call. Without marks of steps, more misses than the
// rule allows are remarkable.
std::int64_t late_misses(const LogProblem& problem, const HostLogs& logs, const ProfileView& view) {
  std::int64_t late = 0, all = 0;
  for (const auto& [block, count] : problem.counts) {
    all += count;
    if (static_cast<std::int64_t>(block) > view.rules().warm_steps) late += count;
  }
  if (logs.blocks().size() > 1) return late;
  return all > view.rules().finding("cache_miss").times ? all : 0;
}

}  // namespace

void find_log_problems(const ProfileView& view, const HostLogs& logs, std::vector<Finding>& found) {
  constexpr std::string_view kErrors[] = {"unsupported", "mismatch", "host_error"};
  ToldProblems errors[std::size(kErrors)], misses;
  for (const LogProblem& problem : logs.problems()) {
    if (!problem.is_error) {
      const std::int64_t late = late_misses(problem, logs, view);
      if (late > 0) misses.add(problem, late);
      continue;
    }
    std::size_t kind = 0;
    while (kind + 1 < std::size(kErrors) &&
           !has_part_of(view.rules().finding(kErrors[kind]).types, problem.text)) {
      ++kind;
    }
    std::int64_t times = 0;
    for (const auto& [block, count] : problem.counts) times += count;
    errors[kind].add(problem, times);
  }
  const char* const whats[] = {"the arguments of an operator are not supported",
                               "the arguments of an operator do not match", ""};
  for (std::size_t kind = 0; kind < std::size(kErrors); ++kind) {
    const std::string what =
        fmt::format("{} in the host log{}{}", counted(errors[kind].count, "error"),
                    whats[kind][0] == '\0' ? "" : ": ", whats[kind]);
    report_problems(view, kErrors[kind], what, std::move(errors[kind]), found);
  }
  const std::string what = fmt::format("the cache of compiled operators misses {}: dynamic shapes",
                                       times_text(misses.count));
  report_problems(view, "cache_miss", what, std::move(misses), found);
}

}  // namespace opbench
