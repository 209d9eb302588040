#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dump/conversion.h"

namespace opbench {

/// What `msaccucmp.py overflow` is asked for.
struct DeviceOverflowQuery {
  std::filesystem::path
      directory;              ///< with what a device left of overflowed operators, or above it
  std::filesystem::path out;  ///< directory; empty: nothing is written
  int most = 1;               ///< records that are looked at, the earliest first
};

struct DeviceOverflow {
  std::size_t records = 0;     ///< debug files that were found
  std::string summary;         ///< as msaccucmp words it; empty without records
  std::filesystem::path file;  ///< where it is written
  ConvertOutcome outcome;      ///< of the files that were written beside it
};

/// Is there a file Opdebug.Node_OpDebug.* in the directory, or in one below it?
bool has_overflow_records(const std::filesystem::path& directory);

/// Reads the debug files of a device, in both layouts, in order of time, each with the earliest
/// dump of the same task and stream in its directory. Writes to `out`, if one is given, as
/// msaccucmp does: the debug files as JSON, the tensors of those dumps as .npy, and
/// overflow_summary_{time}.txt. A debug file or dump that cannot be read is a failure of the
/// outcome, and takes nothing from the others. Errors: throws Error if the directory cannot be
/// read; RunError if the summary cannot be written.
DeviceOverflow summarise_device_overflow(const DeviceOverflowQuery& query,
                                         const std::function<bool()>& stop);

}  // namespace opbench
