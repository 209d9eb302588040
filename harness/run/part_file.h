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

/// What begins the lines that one process writes: {"opbench_part": 1, "results": 5, "plan":
/// "0f3c...", "units": 20000, "part": "3/8", "command": ..., "machine": {...}}. A file that was
/// continued has one for each process, and what follows is of the last before it.
struct PartHeader {
  std::string plan;       ///< digest
  std::size_t units = 0;  ///< of the whole plan
  Part part;              ///< that the file is to hold
  std::string command;
  Machine machine;
  int results_version = 0;  ///< of the records
};

/// A unit that has ended: {"unit": 17, "id": "relu[64,fp32]", "began_us": 1795459200123456,
/// "seconds": 0.81, "run": {...}, "records": [...]}, with run and records as in results.json. Timed
/// records have "start_us", since the unit began, "duration_us" and "sample_preemptions" of every
/// sample, too. Units of older files have none of these times.
struct UnitResult {
  std::size_t unit = 0;  ///< its place in the plan
  std::string id;
  std::int64_t began_us = 0;  ///< since 1970; 0: not known
  double seconds = 0;         ///< from its beginning to its end
  RunResult run;              ///< of this unit alone; samples begin since the unit began
};

/// With their ends.
std::string header_line(const PartHeader& header);
std::string unit_line(const UnitResult& result);

/// A unit's line as another process wrote it. Errors: throws Error, prefixed with `place`.
UnitResult parse_unit_line(const std::string& line, const std::string& place, int results_version);

/// What a line is found to be.
struct PartReader {
  std::function<void(const PartHeader& header, std::size_t line)> header;
  /// `header`: the last before.
  std::function<void(const PartHeader& header, UnitResult result, std::size_t line)> unit;
};

/// Reads the lines of a part in their order; `path` names it in messages. A last line without an
/// end is what a killed process leaves: it is no result.
/// Errors: throws Error "path:line: ..." that says what was found and what is allowed.
void read_part(std::istream& in, const std::string& path, const PartReader& reader);

/// The same of a file. Errors: also throws Error if it cannot be read; never waits for a file.
void read_part_file(const std::string& path, const PartReader& reader);

/// The lines that one process writes, each whole and in the file when `append` returns: what ends
/// the process afterwards takes none of them away. One process at a time writes a file.
class PartFile {
 public:
  /// Opens the file, or makes it, and appends the header; a line that a killed process has left
  /// unfinished is cut off first.
  /// Errors: throws RunError "cannot write ...: reason", also where another process writes it.
  PartFile(const std::string& path, const PartHeader& header);

  /// Errors: as the constructor's; the file then ends with the line before.
  void append(const UnitResult& result) { append(unit_line(result)); }
  /// The same for a line as `unit_line` makes it.
  void append(const std::string& line) { file_.append(line); }

  const std::string& path() const { return path_; }

 private:
  void cut_torn_line() const;

  std::string path_;
  LineFile file_;
};

}  // namespace opbench::units
