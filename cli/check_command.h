#pragma once

#include <optional>
#include <set>
#include <string>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/run_flags.h"
#include "harness/check/check.h"
#include "harness/check/gate.h"
#include "harness/check/watch.h"
#include "harness/plan/case_selection.h"
#include "harness/run/results_file.h"

namespace opbench {

/// The flags of `check` as typed, before they are checked.
struct CheckFlags {
  RunFlags run;
  std::string against, against_directory;
  std::vector<std::string> against_kernels;
  std::optional<double> threshold;  // percent
  std::optional<double> floor_us;
  double budget = 600, sample_ms = 20, time_limit = 120;
  std::optional<double> fail_over;  // percent
  std::string fail_on = "slower";
  std::string waivers;
  bool bits = false, cold_start = false;
  bool exclusive = false;
  std::string baseline, current, gate;
  bool allow_other_machine = false, update = false;
  std::string json, junit, markdown, out_dir, history;
};

void add_check_flags(Command& command, CheckFlags& flags);

/// Errors: throws Error that names the flag, what was found and what is allowed.
check::SpeedRule speed_rule_of(const CheckFlags& flags);
check::GateOptions gate_options_of(const CheckFlags& flags);

/// The part of stored results that the flags of a selection name. Cases that --shapes, --cases,
/// --case, --set and --backward name are planned as for a run, so a mistake in them has the same
/// message. All other flags are matched with the records.
class StoredSelection {
 public:
  /// Errors: throws Error for a selection that is wrong, and for flags that say how to run.
  explicit StoredSelection(const RunFlags& flags);

  /// Throws Error for an operator or a variant that none of these results has, with the most
  /// similar name.
  void require_names(const ResultsFile& baseline, const ResultsFile& current) const;
  /// True if the flags select every record.
  bool is_everything() const;
  /// Removes all records that are not selected.
  void narrow(ResultsFile& results) const;

 private:
  bool takes(const Record& record) const;

  RunOptions options_;
  CaseFilter filter_;
  std::optional<std::set<std::string>> keys_;  ///< of the named cases; null: all cases
};

/// `check --baseline FILE`: compares stored results with those of `--current FILE` or of a run made
/// now.
class StoredCheck {
 public:
  StoredCheck(const CheckFlags& flags, CommandContext& context)
      : flags_(flags), context_(context) {}

  /// The first baseline is kept here.
  std::string anchor_path() const { return flags_.baseline + ".anchor"; }

  /// False if there is no baseline and --update is not given: nothing can be compared.
  bool has_baseline() const;

  /// Errors: throws Error for a file that cannot be read, flags that contradict each other, or a
  /// wrong selection.
  check::CheckReport compare();

  /// With --update: the results become the baseline. `compare` compares with it and with the
  /// anchor, so that slow growth over many updates is found.
  void update();

 private:
  ResultsFile run_now() const;
  /// Reduces both files to the selected records.
  void read_current(ResultsFile& baseline);
  void note_anchor(check::CheckReport& report, const check::WatchOptions& options) const;

  const CheckFlags& flags_;
  CommandContext& context_;
  std::optional<StoredSelection> selection_;  ///< of --current; a new run has its own plan
  ResultsFile current_;
};

}  // namespace opbench
