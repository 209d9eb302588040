#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace opbench {

inline constexpr std::int64_t kAllRanks = -1;

/// The rank and the step of a training job that a dump belongs to.
struct JobPlace {
  std::optional<std::int64_t> step;  ///< none where the job's dump has no steps
  std::int64_t rank = 0;             ///< kAllRanks: of several that are read as one

  auto operator<=>(const JobPlace&) const = default;
};

/// "step 0, rank 3"; "rank 3"; "step 0"; "all ranks"
std::string to_string(const JobPlace& place);
/// "step0/rank3"; "rank3"; "step0"; "joined"
std::string folder_of(const JobPlace& place);

/// The dump of one rank at one step: whatever DumpSource takes.
struct JobDump {
  JobPlace place;
  std::filesystem::path path;
};

/// The dumps below a folder with the layout rank*/step*, step*/rank* or rank*, sorted by their
/// places. Names are rank3, rank_3 or rank-3. The last level may be files, such as rank3.h5. Empty
/// for another layout. Errors: throws Error if two dumps have the same place, or if a folder cannot
/// be read.
std::vector<JobDump> list_job(const std::filesystem::path& folder);

/// The dumps of an undivided run. In a folder with step3 or step3.h5 each step is a dump of all
/// ranks. Otherwise `path` is one dump without a step. Errors: as list_job.
std::vector<JobDump> list_steps(const std::filesystem::path& path);

/// Dumps of two jobs with the same place, and those that only one of them has.
struct JobPairs {
  struct Pair {
    JobPlace place;
    std::filesystem::path actual, expected;
  };
  std::vector<Pair> pairs;
  std::vector<JobPlace> only_actual, only_expected;
};
JobPairs pair_jobs(const std::vector<JobDump>& actual, const std::vector<JobDump>& expected);

}  // namespace opbench
