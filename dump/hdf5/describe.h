#pragma once

#include <hdf5.h>

#include <cstdint>

#include "dump/dump_types.h"

namespace opbench::hdf5 {

/// Fills in what a dataset of a file of `file_bytes` says of itself: all but name, path and side.
/// Errors: throws Error or H5::Exception with what makes it unreadable; what was found before that
/// stays in `entry`.
void describe_dataset(hid_t dataset, std::int64_t file_bytes, DumpEntry& entry);

}  // namespace opbench::hdf5
