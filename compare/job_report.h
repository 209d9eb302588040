#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/analysis.h"
#include "compare/dump_comparison.h"
#include "compare/job_layout.h"

namespace opbench {

/// Where a rank departs first.
struct Departure {
  std::size_t position = 0;  ///< of the operator in the order of execution
  std::string op, seq;
  std::string tensor;  ///< path in the rank's dump of what is furthest off
  std::string reason, explanation;
};

/// A tensor whose bits ranks should agree on, because a rule says so or because those of the
/// expected job do, and do not.
struct SplitReplica {
  std::optional<std::int64_t> step;
  std::string path;
  std::size_t position = 0;         ///< in the dump of the first rank
  std::vector<std::int64_t> ranks;  ///< that should agree
  std::vector<std::int64_t> apart;  ///< those without the bits of the majority, or all
};

/// What the comparison of one rank's dumps at one step says, small enough to keep for thousands.
struct RankReport {
  JobPlace place;
  std::string error;  ///< why the dumps could not be compared; then the rest is void
  bool is_partial = false;
  ExitCode code = kAllWell;
  ComparisonCounts counts;
  std::optional<Departure> departure;
  std::vector<TensorDigests> digests;
  // Of a dump that was joined: what should be the same on all its ranks, and what is not.
  std::int64_t replicas_checked = 0;
  std::vector<SplitReplica> replicas = {};
};

/// Of a comparison that was measured with digests.
RankReport report_rank(const JobPlace& place, DumpComparison& run, FailOn fail_on);

// As bytes for another process of the same program, and back.
std::string pack(const RankReport& report);
RankReport unpack_rank_report(std::string_view packed);

/// The whole of a job.
struct JobReport {
  std::vector<RankReport> ranks;  ///< by place
  std::vector<JobPlace> only_actual, only_expected;
  ComparisonCounts counts;             ///< of all together
  std::optional<std::size_t> first;    ///< of `ranks`: who departs first
  std::vector<SplitReplica> replicas;  ///< by step, then by position
  std::int64_t replicas_checked = 0;   ///< tensors of a step that some ranks should agree on
  bool is_partial = false;             ///< stopped before its end
};

/// Fills in all but `ranks` and what one side alone has. The first to depart: of the earliest step,
/// of its ranks the one whose departing operator comes first, of several the lowest rank.
void conclude(JobReport& job);

Verdict verdict_of(const JobReport& job);

/// Like exit_code of one comparison. A rank that could not be compared, or that one side lacks, is
/// work that could not be finished; replicas that split count as failed unless `fail_on` is none.
ExitCode exit_code(const JobReport& job, FailOn fail_on);

}  // namespace opbench
