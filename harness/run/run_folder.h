#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/merge_parts.h"
#include "harness/run/unit_plan.h"

namespace opbench::units {

/// The folder of a run in units: plan.json, which says what the units are, and parts/*.jsonl, each
/// written by one process. Several machines may share it.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// What `part` writes, or the whole run in one process.
  std::string part_file(const Part& part) const;
  /// What rank `rank` of a run on several writes.
  std::string rank_file(int rank) const;
  /// Everything in parts/, by name.
  std::vector<std::string> part_files() const;

  /// What is there already of a run that goes on: of a part its own file, of the whole run all.
  /// Errors: throws Error for parts of another plan or that cannot be read.
  CollectedUnits take_up(const UnitPlan& plan, const Part& part, const std::string& command) const;

  /// Makes place for a run that begins: removes what an earlier run has left that is complete.
  /// Errors: throws Error if it is not complete, since hours may be in it.
  void begin_anew(const UnitPlan& plan, const Part& part, const std::string& command) const;

  /// Makes the folders and writes plan.json: {"opbench_plan": 1, "plan": digest, "command": ...,
  /// "units": [{"id": ..., "seconds": expected}]}. Errors: throws RunError if it cannot.
  void write_plan(const UnitPlan& plan, const std::string& command) const;

 private:
  std::filesystem::path parts() const { return directory_ / "parts"; }
  /// The files that a part, or the whole run, may take up.
  std::vector<std::string> own_files(const Part& part) const;

  std::filesystem::path directory_;
};

/// The ids of a plan's units in their order, from the plan.json of the folder that holds the parts
/// of `part_file`; empty if there is none of that digest.
/// Errors: throws Error with file and place for a file that is none.
std::vector<std::string> read_unit_ids(const std::string& part_file, const std::string& digest);

}  // namespace opbench::units
