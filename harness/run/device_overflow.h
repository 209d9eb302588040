#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dump/conversion.h"

namespace opbench {

/// Options of `msaccucmp.py overflow`.
struct DeviceOverflowQuery {
  std::filesystem::path directory;  ///< directory of a device's overflow dumps, or one above it
  std::filesystem::path out;        ///< directory; empty: no files are written
  int most = 1;                     ///< records to analyse, the earliest first
};

struct DeviceOverflow {
  std::size_t records = 0;     ///< debug files that were found
  std::string summary;         ///< in the words of msaccucmp; empty without records
  std::filesystem::path file;  ///< path of the summary
  ConvertOutcome outcome;      ///< of the files that were written in addition
};

/// True if the directory, or one below it, has a file Opdebug.Node_OpDebug.*.
bool has_overflow_records(const std::filesystem::path& directory);

/// Reads the debug files of a device, in both layouts, in order of time. Each is combined with the
/// earliest dump of the same task and stream in its directory. If `out` is given, writes the files
/// of msaccucmp: the debug files as JSON, the tensors of those dumps as .npy, and
/// overflow_summary_{time}.txt. A debug file or dump that cannot be read is a failure of the
/// outcome; the others are still processed.
/// Errors: throws Error if the directory cannot be read; RunError if the summary cannot be written.
DeviceOverflow summarise_device_overflow(const DeviceOverflowQuery& query,
                                         const std::function<bool()>& stop);

}  // namespace opbench
