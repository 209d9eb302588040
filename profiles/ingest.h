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

/// Tasks against the profiler's own op_statistic: the same counts and times by type and core, or
/// the profiles are not of one run, or one of them was read wrongly.
struct StatisticCheck {
  std::int64_t groups = 0;           ///< types and cores in either
  std::int64_t exact = 0;            ///< equal to the last digit
  std::int64_t within_rounding = 0;  ///< others that differ by less than the digits printed can say
  std::vector<std::string> differences;  ///< a sentence for each other

  bool agrees() const { return differences.empty(); }
};

/// `types`: of the tasks. Rows of several tables are added up.
StatisticCheck check_statistic(const std::vector<HotType>& types,
                               const std::vector<StatisticRow>& rows);

/// A file that was read, and how it went.
struct IngestedFile {
  std::string path;
  std::string kind;  ///< "kernel_details", "host log", ...; empty where it was not recognised
  std::int64_t rows = 0, columns = 0;
  std::int64_t skipped = 0;
  std::vector<std::string>
      problems;  ///< the first lines that were skipped, or why nothing was read
  std::string_view unit = "rows";
  bool is_whole = true;  ///< reading did not end before the file
};

/// What several profiles of one network say together.
struct IngestResult {
  std::vector<IngestedFile> files;
  HotSpots hot_spots;
  HostLogs logs = {};
  TraceProfile trace = {};
  FrameworkOps framework = {};
  /// With traces beside tables: rows of the tables, which the traces find again.
  std::optional<RowsByStart> rows = {};
  std::vector<StatisticRow> statistic = {};
  std::optional<StatisticCheck> check = {};  ///< where tasks with types and a statistic are there
  std::vector<std::string> warnings = {};

  bool is_any_read() const;
};

/// Reads all files in one pass each, MindSpore's list of operators first and traces last. A file
/// that cannot be read or recognised takes nothing from the others. `begin` is told each file;
/// where `stop` says so, reading ends. `samples`: tasks of each operator that are kept.
IngestResult ingest_files(const std::vector<std::string>& paths,
                          const std::function<void(const std::string& path)>& begin,
                          const std::function<bool()>& stop,
                          const HotSpotRules& rules = HotSpotRules::builtin(),
                          std::size_t samples = 0);

/// The same of one file's bytes, into `result`.
void ingest_bytes(ByteSource source, const std::string& path, IngestResult& result);

}  // namespace opbench
