#pragma once

#include <string>

#include "harness/run/part_lines.h"
#include "text/line_file.h"

namespace opbench::units {

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
