#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/compare_flags.h"
#include "compare/job_layout.h"
#include "compare/shard_rules.h"

namespace opbench {

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
