#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/run_flags.h"
#include "harness/check/gate.h"
#include "harness/check/watch.h"

namespace opbench {

/// The flags of `check` as typed, before they are checked.
struct CheckFlags {
  RunFlags run;
  std::string against, against_directory;
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

}  // namespace opbench
