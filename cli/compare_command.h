#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"
#include "compare/analysis.h"
#include "compare/dump_comparison.h"
#include "compare/job_layout.h"
#include "compare/msaccucmp/msaccucmp_files.h"
#include "compare/msaccucmp/msaccucmp_metrics.h"
#include "compare/shard_rules.h"
#include "workers/ranks.h"

namespace opbench {

/// The flags of `compare` as typed, before they are checked.
struct CompareFlags {
  std::vector<std::string> files;    ///< NPU GPU
  std::string my_dump, golden_dump;  ///< the same as msaccucmp's -m and -g
  std::string golden;                ///< a third dump, more accurate than both
  std::string shards;                ///< rules that join the parts of ranks
  std::string out_dir, algorithms = "all";
  std::string standard, standards_file, map_file, match, only, explain, fail_on;
  int post_process = 0, top = 10, threads = 0;
  std::int64_t memory_mib = 256;
  std::int64_t max_elements = kMaxElements;
  bool advisor = false;
};

void add_compare_flags(Command& command, CompareFlags& flags);

/// The flags, checked.
struct ComparisonRequest {
  ComparisonOptions options;
  std::vector<Metric> metrics;
  MsaccucmpExtras extras;
  FailOn fail_on = FailOn::any;
  std::size_t top = 10;
  int threads = 1;
  std::vector<std::pair<std::string, std::string>> given;  ///< as typed, for the reports
};

/// Errors: throws Error that names the flag, what was found and what is allowed.
ComparisonRequest request_of(const CompareFlags& flags, const Ranks& ranks);

/// True if the path of -o is one HDF5 file: it ends in .h5.
bool is_artefact_name(const std::string& path);

/// True if both folders of the request hold the dumps of a job's ranks; see list_job. Errors: those
/// of list_job.
bool is_of_jobs(const ComparisonRequest& request);

/// Compares the dumps of two jobs: each rank's dump at each step with its partner. All ranks of
/// this process group share the work. Writes a report for each pair and one for the job. Returns
/// the exit code.
int compare_jobs(const CompareFlags& flags, const ComparisonRequest& request,
                 CommandContext& context);

/// The plan that all ranks share.
struct JobPlan {
  JobPairs pairs;
  std::vector<JobDump> golden;
  // Set if actual dumps are joined: the rules, and the dumps of each pair's step in order.
  std::optional<ShardRules> rules;
  std::vector<std::vector<JobDump>> parts;
};

/// Pairs each rank's dump at each step with its partner. With a `rules_file`, a step's dumps of all
/// ranks together form a pair with the dump of the undivided run. An empty `rules_file` means no
/// rules. Errors: throws Error naming a folder or file that is incomplete.
JobPlan plan_job(const ComparisonRequest& request, const std::string& rules_file);

/// Hash of the plan. Ranks that read the same files have the same hash.
std::string digest_of(const JobPlan& plan);

}  // namespace opbench
