#pragma once

#include <H5Cpp.h>

#include <string>
#include <vector>

#include "dump/dump_types.h"

namespace opbench::hdf5 {

struct ScanResult {
  std::vector<DumpRecord> records;    // by seq
  std::vector<std::string> problems;  // what fits no record
};

/// Lists what a dump holds. `file_name` stands in messages. Reads attributes, no data.
/// Errors: H5::Exception if the file's structure is damaged.
ScanResult scan(const H5::H5File& file, const std::string& file_name);

}  // namespace opbench::hdf5
