#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/run_flags.h"
#include "dump/dump_writer.h"
#include "harness/plan/work_unit.h"
#include "harness/run/results_file.h"
#include "harness/run/runner.h"
#include "harness/run/task_dumps.h"

namespace opbench {

/// The file with the results of the last run: opbench/last.json in XDG_CACHE_HOME, else in
/// ~/.cache. Empty if neither is known.
std::filesystem::path last_run_file();

/// Keeps the results for `opbench report --last`. Returns false if there are no results, or if the
/// file cannot be written; neither is an error.
bool keep_last_run(const ResultsFile& results);
bool keep_last_run(const RunResult& result, const CommandContext& context);

/// The files that a selection reads.
std::vector<NamedFile> input_files(const SelectionText& selection);

/// Errors: throws Error if a result would replace another result, an input of the run or a file of
/// the user, or if standard output is given for a dump or a folder.
void check_run_files(const RunFlags& flags, const CommandContext& context);

/// The output files of all result flags. A flag that is not given has an empty path.
std::vector<NamedFile> named_results(const RunFlags& flags);

/// The output files of a run. All are reserved before anything runs, so that a file that cannot be
/// written does not waste the run.
class RunOutputs {
 public:
  /// Errors: throws Error like `check_run_files`, and for tasks or dumps of units that do not
  /// run; RunError for a file that cannot be written.
  RunOutputs(const RunFlags& flags, CommandContext& context, std::span<const WorkUnit> units);

  DumpTargets dumps();
  /// True if no file is written.
  bool is_empty() const {
    return reports_.empty() && !dump_ && !tasks_ && !artefact_ && prof_dir_.empty();
  }

  /// Writes all files. A file that fails does not stop the others. Returns true if none failed. A
  /// dump without a record is not written, and a line gives the reason.
  bool write(const RunResult& result);
  /// Writes results of several machines. Only JSON holds the results of all machines. Other forms
  /// are not written, and a line says so.
  bool write(const ResultsFile& results);

 private:
  using Render = void (*)(std::ostream& out, const ResultsFile& results);
  struct Report {
    Report(const std::string& path, CommandContext& context, Render chosen, bool is_json)
        : file(path, context), where(path), render(chosen), holds_all(is_json) {}
    ResultFile file;
    std::string where;
    Render render;
    bool holds_all;  ///< true: the form holds the results of several machines
  };

  void write_profs(const RunResult& result) const;
  void finish_dump(const RunResult& result);
  void finish_tasks();
  bool attempt(const std::function<void()>& action) const;

  CommandContext& context_;
  // Files do not move or copy.
  std::deque<Report> reports_;
  std::string dump_path_, prof_dir_;
  std::optional<DumpWriter> dump_, artefact_;
  bool keeps_tensors_ = false;  ///< in the artefact
  std::optional<TaskDumps> tasks_;
};

}  // namespace opbench
