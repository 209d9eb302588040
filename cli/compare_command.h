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
  std::string golden;                ///< a third dump, nearer to the truth
  std::string shards;                ///< rules by which ranks' parts are joined
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

/// True for the -o of one HDF5 file: it ends in .h5.
bool is_artefact_name(const std::string& path);

/// True if both folders of the request hold the dumps of a job's ranks; see list_job. Errors: those
/// of list_job.
bool is_of_jobs(const ComparisonRequest& request);

/// Compares the dumps of two jobs, each rank's at each step with its partner, by all ranks of this
/// start. Writes a report for each and one of the whole. Returns the exit code.
int compare_jobs(const CompareFlags& flags, const ComparisonRequest& request,
                 CommandContext& context);

/// What all ranks know of the work.
struct JobPlan {
  JobPairs pairs;
  std::vector<JobDump> golden;
  // Where the actual dumps are joined: by what rules, and the dumps of each pair's step in order.
  std::optional<ShardRules> rules;
  std::vector<std::vector<JobDump>> parts;
};

/// Each rank's dump at each step with its partner; or, by the rules of a file, a step's dumps of
/// all ranks together with that of the undivided run. `rules_file`: empty for none. Errors: throws
/// Error naming a folder or file that lacks what is needed.
JobPlan plan_job(const ComparisonRequest& request, const std::string& rules_file);

/// The same on all ranks that see the same files.
std::string digest_of(const JobPlan& plan);

}  // namespace opbench
