#pragma once

#include "cli/command.h"

namespace opbench {

void add_selftest_command(CommandLine& line, CommandContext& context);
void add_audit_command(CommandLine& line, CommandContext& context);

}  // namespace opbench
