#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "harness/plan/case_selection.h"
#include "harness/run/machine.h"
#include "harness/run/run_result.h"
#include "text/output_file.h"

namespace opbench::units {

/// Version of the lines below.
inline constexpr int kPartVersion = 1;

/// Header of the lines that one process writes: {"opbench_part": 1, "results": 5, "plan":
/// "0f3c...", "units": 20000, "part": "3/8", "command": ..., "machine": {...}}. A resumed file has
/// a header for each process. Each header applies to the lines up to the next.
struct PartHeader {
  std::string plan;       ///< digest
  std::size_t units = 0;  ///< of the whole plan
  Part part;              ///< the part that the file will hold
  std::string command;
  Machine machine;
  int results_version = 0;  ///< version of the records' format
};

/// A finished unit: {"unit": 17, "id": "relu[64,fp32]", "began_us": 1795459200123456, "seconds":
/// 0.81, "run": {...}, "records": [...]}, with run and records as in results.json. Timed records
/// also have "start_us" (since the start of the unit), "duration_us" and "sample_preemptions" of
/// every sample. Units of older files do not have these times.
struct UnitResult {
  std::size_t unit = 0;  ///< its index in the plan
  std::string id;
  std::int64_t began_us = 0;  ///< since 1970; 0: unknown
  double seconds = 0;         ///< duration of the unit
  RunResult run;              ///< of this unit only; samples start relative to the unit's start
};

/// Lines of the file, each with its line end.
std::string header_line(const PartHeader& header);
std::string unit_line(const UnitResult& result);

/// Parses a unit's line that another process wrote.
/// Errors: throws Error, prefixed with `place`.
UnitResult parse_unit_line(const std::string& line, const std::string& place, int results_version);

/// Receivers of the lines of a part.
struct PartReader {
  std::function<void(const PartHeader& header, std::size_t line)> header;
  /// `header` is the last header before the unit.
  std::function<void(const PartHeader& header, UnitResult result, std::size_t line)> unit;
};

/// Reads the lines of a part in order. `path` names it in messages. A last line without an end was
/// left by a killed process and is ignored.
/// Errors: throws Error "path:line: ..." with the text found and the allowed form.
void read_part(std::istream& in, const std::string& path, const PartReader& reader);

/// Like `read_part`, for a file.
/// Errors: also throws Error if the file cannot be read; never blocks on a file.
void read_part_file(const std::string& path, const PartReader& reader);

/// Lines that one process writes. Each is written as a whole and is in the file when `append`
/// returns, so a later end of the process does not lose it. Only one process writes a file at a
/// time.
class PartFile {
 public:
  /// Opens or creates the file, and appends the header. An unfinished line of a killed process is
  /// cut off first.
  /// Errors: throws RunError "cannot write ...: reason", also if another process writes the file.
  PartFile(const std::string& path, const PartHeader& header);

  /// Errors: as the constructor's; the file then ends with the line before.
  void append(const UnitResult& result) { append(unit_line(result)); }
  /// Appends a line that `unit_line` made.
  void append(const std::string& line) { file_.append(line); }

  const std::string& path() const { return path_; }

 private:
  void cut_torn_line() const;

  std::string path_;
  LineFile file_;
};

}  // namespace opbench::units
