#pragma once

#include <iosfwd>
#include <string>

#include "cli/command_model.h"

namespace opbench {

/// opbench(1) in the man macros of troff: every command with its flags and examples.
void write_man_page(std::ostream& out, const ProgramModel& model, const std::string& version);

}  // namespace opbench
