#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "cli/compare_command.h"
#include "tensor/buffer.h"
#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

JobPlan paired_plan(const ComparisonRequest& request) {
  JobPlan plan;
  const ComparisonOptions& options = request.options;
  plan.pairs = pair_jobs(list_job(options.actual), list_job(options.expected));
  if (options.golden.empty()) return plan;
  if (is_folder(options.golden)) plan.golden = list_job(options.golden);
  for (const JobPairs::Pair& pair : plan.pairs.pairs) {
    const bool is_there = std::any_of(plan.golden.begin(), plan.golden.end(),
                                      [&](const JobDump& d) { return d.place == pair.place; });
    if (is_there) continue;
    throw Error(fmt::format("--golden: {} has no dump of {}; it must be laid out like {}",
                            options.golden, to_string(pair.place), options.actual));
  }
  return plan;
}

// A step's dumps of the ranks that the rules name; else of all ranks.
std::vector<JobDump> parts_of(const std::vector<JobDump>& dumps,
                              const std::optional<std::int64_t>& step, const ShardRules& rules,
                              const std::string& rules_file) {
  std::vector<JobDump> parts;
  if (rules.ranks.empty()) {
    std::copy_if(dumps.begin(), dumps.end(), std::back_inserter(parts),
                 [&](const JobDump& dump) { return dump.place.step == step; });
    return parts;
  }
  for (const std::int64_t rank : rules.ranks) {
    const JobPlace place{step, rank};
    const auto dump = std::find_if(dumps.begin(), dumps.end(),
                                   [&](const JobDump& d) { return d.place == place; });
    if (dump == dumps.end()) {
      throw Error(fmt::format("{}: ranks: there is no dump of {}", rules_file, to_string(place)));
    }
    parts.push_back(*dump);
  }
  return parts;
}

// One pair for each step: the ranks' dumps together, and the dump of the undivided run.
JobPlan joined_plan(const ComparisonRequest& request, const std::string& rules_file) {
  const std::string& folder = request.options.actual;
  const auto dumps = is_folder(folder) ? list_job(folder) : std::vector<JobDump>();
  if (dumps.empty()) {
    throw Error(fmt::format(
        "--shards: {} holds no dumps of ranks; it must be laid out as rank*/step*, step*/rank* or "
        "rank*",
        folder));
  }
  JobPlan plan;
  plan.rules = load_shard_rules(rules_file);
  std::vector<JobDump> steps;
  for (const JobDump& dump : dumps) {
    const JobPlace place{dump.place.step, kAllRanks};
    if (steps.empty() || steps.back().place != place) steps.push_back({place, folder});
  }
  std::vector<JobDump> whole = list_steps(request.options.expected);
  // A single dump without a step belongs to the only step.
  if (whole.size() == 1 && steps.size() == 1 && !whole[0].place.step) {
    whole[0].place = steps[0].place;
  }
  plan.pairs = pair_jobs(steps, whole);
  for (const JobPairs::Pair& pair : plan.pairs.pairs) {
    plan.parts.push_back(parts_of(dumps, pair.place.step, *plan.rules, rules_file));
  }
  return plan;
}

}  // namespace

JobPlan plan_job(const ComparisonRequest& request, const std::string& rules_file) {
  return rules_file.empty() ? paired_plan(request) : joined_plan(request, rules_file);
}

std::string digest_of(const JobPlan& plan) {
  std::string all;
  for (const JobPairs::Pair& pair : plan.pairs.pairs) {
    all += fmt::format("{}\n{}\n", pair.actual.string(), pair.expected.string());
  }
  return fmt::format("{} dumps, {:016x}", plan.pairs.pairs.size(),
                     checksum(all.data(), all.size()));
}

}  // namespace opbench
