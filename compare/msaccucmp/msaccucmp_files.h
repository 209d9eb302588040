#pragma once

#include <ctime>
#include <filesystem>
#include <span>
#include <vector>

#include "compare/msaccucmp/msaccucmp_result.h"
#include "dump/dump_source.h"

namespace opbench {

/// Additions of `-p 1` and `-advisor` to msaccucmp's result.
struct MsaccucmpExtras {
  bool filter = false;  ///< a folder with the rows to look at and their tensors as .npy
  bool advice = false;  ///< advisor_summary.txt
};

/// The file result_<YYYYmmddHHMMSS>.csv in `directory`, with the local time of `now`, or of the
/// next second whose name is free. Like msaccucmp's files, it is readable by its owner only.
class MsaccucmpFiles {
 public:
  /// Makes the directory if it is missing. Errors: RunError "cannot make directory ...".
  MsaccucmpFiles(const std::filesystem::path& directory, std::time_t now);

  const std::filesystem::path& result() const { return result_; }

  /// Writes the result and the additions in `extras`. The tensors of filtered rows are read from
  /// `actual` and `golden`. Errors: RunError that names the file.
  void write(std::span<const Metric> metrics, const MsaccucmpLines& lines,
             const MsaccucmpExtras& extras, DumpSource& actual, DumpSource& golden) const;

 private:
  void write_filtered(std::span<const Metric> metrics, const MsaccucmpLines& lines,
                      DumpSource& actual, DumpSource& golden) const;

  std::filesystem::path result_;
};

}  // namespace opbench
