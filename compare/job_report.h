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

/// The first departure of a rank.
struct Departure {
  std::size_t position = 0;  ///< of the operator in the order of execution
  std::string op, seq;
  std::string tensor;  ///< path in the rank's dump of what is furthest off
  std::string reason, explanation;
};

/// A tensor whose bits differ between ranks that should agree. They should agree if a rule says so,
/// or if the expected job's ranks agree.
struct SplitReplica {
  std::optional<std::int64_t> step;
  std::string path;
  std::size_t position = 0;         ///< in the dump of the first rank
  std::vector<std::int64_t> ranks;  ///< that should agree
  std::vector<std::int64_t> apart;  ///< those without the bits of the majority, or all
};

/// The comparison of one rank's dumps at one step, small enough to store thousands.
struct RankReport {
  JobPlace place;
  std::string error;  ///< why the dumps could not be compared; then the rest is void
  bool is_partial = false;
  ExitCode code = kAllWell;
  ComparisonCounts counts;
  std::string lacks;  ///< which tensors could not be read, or why none was compared
  std::optional<Departure> departure;
  std::vector<TensorDigests> digests;
  // For a joined dump: tensors that should be equal on all ranks, and those that differ.
  std::int64_t replicas_checked = 0;
  std::vector<SplitReplica> replicas = {};
};

/// Needs a comparison that was measured with digests.
RankReport report_rank(const JobPlace& place, DumpComparison& run, FailOn fail_on);

// Bytes for another process of the same program; `unpack` reads them.
std::string pack(const RankReport& report);
RankReport unpack_rank_report(std::string_view packed);

/// The comparison of a whole job.
struct JobReport {
  std::vector<RankReport> ranks;  ///< by place
  std::vector<JobPlace> only_actual, only_expected;
  ComparisonCounts counts;             ///< of all together
  std::optional<std::size_t> first;    ///< of `ranks`: who departs first
  std::vector<SplitReplica> replicas;  ///< by step, then by position
  std::int64_t replicas_checked = 0;   ///< tensors of a step that some ranks should agree on
  bool is_partial = false;             ///< stopped before its end
};

/// Sets all members but `ranks` and the dumps on one side only. The first departure is in the
/// earliest step; there, at the first operator that departs; among these, on the lowest rank.
void conclude(JobReport& job);

Verdict verdict_of(const JobReport& job);

/// The exit code of a job, as for one comparison. A rank that could not be compared or is missing
/// on one side counts as unfinished. Replicas that differ count as failed unless `fail_on` is
/// FailOn::none.
ExitCode exit_code(const JobReport& job, FailOn fail_on);

}  // namespace opbench
