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

/// Where the results of the last run are kept: opbench/last.json in XDG_CACHE_HOME, else in
/// ~/.cache. Empty where neither is known.
std::filesystem::path last_run_file();

/// Keeps them, for `opbench report --last`. False where the file cannot be written, which is no
/// error, and where there are no results.
bool keep_last_run(const ResultsFile& results);
bool keep_last_run(const RunResult& result, const CommandContext& context);

/// What a selection reads.
std::vector<NamedFile> input_files(const SelectionText& selection);

/// Errors: throws Error if a result would replace another, what the run reads or a file of the
/// user, or if a dump or a folder is to be standard output.
void check_run_files(const RunFlags& flags, const CommandContext& context);

/// The files that flags name for forms of the results, given or not.
std::vector<NamedFile> named_results(const RunFlags& flags);

/// The files of a run, all reserved before anything runs: a result that cannot be written is a
/// wasted hour.
class RunOutputs {
 public:
  /// Errors: throws Error like `check_run_files`, and for tasks or dumps of what does not
  /// run; RunError for a file that cannot be written.
  RunOutputs(const RunFlags& flags, CommandContext& context, std::span<const WorkUnit> units);

  DumpTargets dumps();
  /// Nothing but what is printed.
  bool is_empty() const { return reports_.empty() && !dump_ && !tasks_ && !artefact_; }

  /// Writes all of them; one that fails does not keep the others from being written. True if none
  /// failed. A dump without a record is left out, with a line that says why.
  bool write(const RunResult& result);
  /// The same for results of several machines: only JSON holds those of all, and another form is
  /// left out, with a line that says so.
  bool write(const ResultsFile& results);

 private:
  using Render = void (*)(std::ostream& out, const ResultsFile& results);
  struct Report {
    Report(const std::string& path, CommandContext& context, Render chosen, bool is_json)
        : file(path, context), where(path), render(chosen), holds_all(is_json) {}
    ResultFile file;
    std::string where;
    Render render;
    bool holds_all;  ///< the results of several machines
  };

  void finish_dump(const RunResult& result);
  void finish_tasks();
  bool attempt(const std::function<void()>& action) const;

  CommandContext& context_;
  // Files neither move nor copy.
  std::deque<Report> reports_;
  std::string dump_path_;
  std::optional<DumpWriter> dump_, artefact_;
  bool keeps_tensors_ = false;  ///< in the artefact
  std::optional<TaskDumps> tasks_;
};

}  // namespace opbench
