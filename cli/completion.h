#pragma once

#include <iosfwd>

#include "cli/command_model.h"

namespace opbench {

/// Scripts that complete commands, flags and their values. Without a command the flags of the
/// default one are meant, as on the command line.
void write_bash_completion(std::ostream& out, const ProgramModel& model);
void write_zsh_completion(std::ostream& out, const ProgramModel& model);
void write_fish_completion(std::ostream& out, const ProgramModel& model);

}  // namespace opbench
