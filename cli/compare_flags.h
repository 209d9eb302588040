#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "compare/analysis.h"
#include "compare/dump_comparison.h"
#include "compare/msaccucmp/msaccucmp_files.h"
#include "compare/msaccucmp/msaccucmp_metrics.h"
#include "workers/ranks.h"

namespace opbench {

/// The flags of `compare` as typed, before they are checked.
struct CompareFlags {
  std::vector<std::string> files;    ///< NPU GPU
  std::string my_dump, golden_dump;  ///< the same as msaccucmp's -m and -g
  std::string golden;                ///< a third dump, nearer to the truth
  std::string shards;                ///< rules by which ranks' parts are joined
  std::string out_dir, algorithms = "all";
  std::string standard, standards_file, map_file, match, only, fail_on;
  int post_process = 0, top = 10, threads = 0;
  std::int64_t memory_mib = 256;
  std::int64_t max_elements = kMaxElements;
  bool advisor = false;
};

void add_compare_flags(Command& command, CompareFlags& flags);

/// The flags, checked.
struct ComparisonRequest {
  ComparisonOptions options;
  std::vector<Metric> metrics;
  MsaccucmpExtras extras;
  FailOn fail_on = FailOn::any;
  std::size_t top = 10;
  int threads = 1;
  std::vector<std::pair<std::string, std::string>> given;  ///< as typed, for the reports
};

/// Errors: throws Error that names the flag, what was found and what is allowed.
ComparisonRequest request_of(const CompareFlags& flags, const Ranks& ranks);

/// True for the -o of one HDF5 file: it ends in .h5.
bool is_artefact_name(const std::string& path);

}  // namespace opbench
