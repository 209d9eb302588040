#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/merge_parts.h"
#include "harness/run/unit_plan.h"

namespace opbench::units {

/// Folder of a run in units. It holds plan.json, which lists the units, and parts/*.jsonl, each
/// written by one process. Several machines may share it.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// File of `part`, or of a whole run in one process.
  std::string part_file(const Part& part) const;
  /// File of rank `rank` of a run on several ranks.
  std::string rank_file(int rank) const;
  /// All files in parts/, by name.
  std::vector<std::string> part_files() const;

  /// Units that a resumed run finds: for a part those of its own file, for the whole run those of
  /// all files.
  /// Errors: throws Error for parts that belong to another plan or cannot be read.
  CollectedUnits resume(const UnitPlan& plan, const Part& part, const std::string& command) const;

  /// Prepares the folder for a new run: removes the files of an earlier complete run.
  /// Errors: throws Error if the earlier run is incomplete, because it may hold hours of results.
  void start_new(const UnitPlan& plan, const Part& part, const std::string& command) const;

  /// Makes the folders and writes plan.json: {"opbench_plan": 1, "plan": digest, "command": ...,
  /// "units": [{"id": ..., "seconds": expected}]}.
  /// Errors: throws RunError if it cannot write.
  void write_plan(const UnitPlan& plan, const std::string& command) const;

 private:
  std::filesystem::path parts() const { return directory_ / "parts"; }
  /// Files that a part, or the whole run, may continue.
  std::vector<std::string> own_files(const Part& part) const;

  std::filesystem::path directory_;
};

/// Ids of a plan's units in order, from the plan.json of the folder that holds the parts of
/// `part_file`; empty if the folder has another digest.
/// Errors: throws Error with file and place if the file is not a plan.
std::vector<std::string> read_unit_ids(const std::string& part_file, const std::string& digest);

}  // namespace opbench::units
