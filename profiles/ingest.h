#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiles/framework_ops.h"
#include "profiles/host_log.h"
#include "profiles/hot_spots.h"
#include "profiles/statistic_check.h"
#include "profiles/timeline.h"

namespace opbench {

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
