#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/spec/case_file.h"

namespace opbench {

/// What one run is asked to do, as the command line states it.
struct RunOptions {
  std::vector<std::string> ops;
  std::string shapes_file;
  std::vector<std::string> case_files;
  std::vector<std::string> case_ids;
  std::string filter;  ///< regular expression on case id or name; empty: all
  std::vector<DType> dtypes;
  std::vector<Format> formats;
  std::vector<std::string> variants;
  bool backward = false;
  Symbols symbols;
  std::vector<int> threads;  ///< empty: all cores
  int shard_index = 1, shard_count = 1;

  double seconds_per_case = 0.1;
  int repetitions = 9;
  bool cold = false;
  bool verify = true;
};

}  // namespace opbench
