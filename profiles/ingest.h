#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiles/host_log.h"
#include "profiles/hot_spots.h"
#include "profiles/task_table.h"
#include "profiles/time_table.h"
#include "profiles/timeline.h"

namespace opbench {

/// Compares tasks with the profiler's own op_statistic. Counts and times by type and core must be
/// equal; otherwise the profiles are of different runs, or a file was read wrongly.
struct StatisticCheck {
  std::int64_t groups = 0;               ///< types and cores in either source
  std::int64_t exact = 0;                ///< groups that are equal to the last digit
  std::int64_t within_rounding = 0;      ///< groups that differ by no more than rounding
  std::vector<std::string> differences;  ///< a sentence for each other group

  bool agrees() const { return differences.empty(); }
};

/// `types`: those of the tasks. Rows of several tables are added up.
StatisticCheck check_statistic(const std::vector<HotType>& types,
                               const std::vector<StatisticRow>& rows);

/// The result of reading one file.
struct IngestedFile {
  std::string path;
  std::string kind;  ///< "kernel_details", "host log", ...; empty if it was not recognised
  std::int64_t rows = 0, columns = 0;
  std::int64_t skipped = 0;
  std::vector<std::string>
      problems;  ///< the first skipped lines, or the reason why nothing was read
  std::string_view unit = "rows";
  bool is_whole = true;  ///< the end of the file was reached
};

/// The contents of several profiles of one network.
struct IngestResult {
  std::vector<IngestedFile> files;
  HotSpots hot_spots;
  HostLogs logs = {};
  TraceProfile trace = {};
  FrameworkOps framework = {};
  /// Rows of tables by start time, if there are traces too: traces find their tasks in them.
  std::optional<RowsByStart> rows = {};
  std::vector<StatisticRow> statistic = {};
  std::optional<StatisticCheck> check = {};  ///< set if there are tasks with types and a statistic
  std::vector<std::string> warnings = {};

  bool is_any_read() const;
};

/// Reads each file in one pass, MindSpore's list of operators first and traces last. An unreadable
/// or unknown file does not affect the others. `begin` is called before each file. Reading ends
/// when `stop` returns true. `samples`: number of tasks kept of each operator.
IngestResult ingest_files(const std::vector<std::string>& paths,
                          const std::function<void(const std::string& path)>& begin,
                          const std::function<bool()>& stop,
                          const HotSpotRules& rules = HotSpotRules::builtin(),
                          std::size_t samples = 0);

/// Reads the bytes of one file into `result`.
void ingest_bytes(ByteSource source, const std::string& path, IngestResult& result);

}  // namespace opbench
