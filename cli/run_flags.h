#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/options.h"

namespace opbench {

/// The flags of `run` as typed, before they are checked.
struct RunFlags {
  SelectionText selection = absent_selection();
  std::string isa;
  std::vector<int> threads;
  std::optional<double> seconds;
  int repetitions = 9;
  std::optional<double> loss_scale;
  bool check_overflow = false;
  std::string verify = "sample", standard = "bound";
  bool cold = false, no_verify = false, dry_run = false, explain = false, plot = false;
  std::string out_dir, json, csv, markdown, junit, benchmark_json, trace, dump, dot, op_summary,
      op_statistic, artefact;
  bool tensors = false;              ///< into the artefact, too
  std::string acl_json;              ///< what a device would dump
  std::string load, only, map_file;  ///< of a dump that is run again
  std::string part = "1/1", resume;  ///< of a run in units, see cli/unit_run.h
  std::optional<double> unit_timeout;
  bool exclusive = false, not_exclusive = false;

  /// Where a run in units writes; empty: it is none.
  const std::string& units_dir() const { return resume.empty() ? out_dir : resume; }
};

/// The heading of the flags that name files, in --help.
inline constexpr const char* kResultsGroup =
    "Where results go (- is standard output, and the table goes to standard error then)";

/// What to run, and what every command that measures has in common.
void add_selection_flags(Command& command, RunFlags& flags);
/// All flags of `run`.
void add_run_flags(Command& command, RunFlags& flags);

/// Errors: throws Error that shows what was given.
Part part_of(const RunFlags& flags);

/// True if what runs is written, as HDF5 or as a device writes it.
bool writes_dump(const RunFlags& flags);

/// Errors: throws Error that names the flag, what was found and what is allowed.
RunOptions options_of(const RunFlags& flags);
/// The same of a command that has no units: of its selection the part.
RunOptions options_of_part(const RunFlags& flags);

}  // namespace opbench
