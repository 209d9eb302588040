#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  std::optional<double> until_noise;  ///< percent
  int input_copies = 1;
  std::optional<double> loss_scale;
  bool check_overflow = false;
  std::string verify = "sample", standard = "bound";
  bool cold = false, counters = false, no_verify = false, dry_run = false, explain = false,
       plot = false;
  std::string out_dir, json, csv, markdown, junit, benchmark_json, trace, dump, dot, op_summary,
      op_statistic, artefact, prof_dir;
  bool tensors = false;              ///< also write tensors to the artefact
  std::string impl_mode;             ///< of the operators of NPUs
  std::string acl_json;              ///< dump configuration of a device
  std::string load, only, map_file;  ///< of a dump that runs again
  std::string part = "1/1", resume;  ///< of a run in work units, see cli/unit_run.h
  std::optional<double> unit_timeout;
  bool exclusive = false, not_exclusive = false;

  /// The output folder of a run in work units; empty for other runs.
  const std::string& units_dir() const { return resume.empty() ? out_dir : resume; }
};

/// Heading in --help of the flags that name files.
inline constexpr const char* kResultsGroup =
    "Where results go (- is standard output; the table then goes to standard error)";

/// Adds the flags of a selection; of those of `only` if it is not empty.
void add_selection_fields(Command& command, SelectionText& selection,
                          std::span<const std::string_view> only = {});
/// Adds the selection flags, and the flags that all measuring commands share.
void add_selection_flags(Command& command, RunFlags& flags);
/// Adds all flags of `run`.
void add_run_flags(Command& command, RunFlags& flags);

/// Adds --impl-mode to the devices of the selection.
/// Errors: throws Error if the selection has no NPU, or another device.
void set_impl_mode(RunFlags& flags);

/// Errors: throws Error that quotes the value.
Part part_of(const RunFlags& flags);

/// True if tensors are written, as HDF5 or in the device's format.
bool writes_dump(const RunFlags& flags);

/// Errors: throws Error that names the flag, what was found and what is allowed.
RunOptions options_of(const RunFlags& flags);
/// `options_of` for a command without work units: --part divides its selection.
RunOptions options_of_part(const RunFlags& flags);

}  // namespace opbench
