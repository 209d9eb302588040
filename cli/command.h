#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace opbench {

/// What every command may use: where to write, how, and the command line as typed.
struct CommandContext {
  std::ostream& out;
  std::ostream& err;
  std::string command_line;
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;

  /// Colours only on a terminal, and not where --no-color or NO_COLOR say otherwise.
  bool colour() const;
  /// Progress on a line of its own that is overwritten; else plain lines.
  bool is_progress_overwritten() const;
  /// Columns that such a line may fill.
  std::size_t progress_width() const;
};

/// What the chosen command does once the command line is parsed; returns the exit code.
using Action = std::function<int()>;

/// Each adds one subcommand with its flags and sets `action` when it is chosen.
void add_run_command(CLI::App& app, CommandContext& context, Action& action);
void add_list_command(CLI::App& app, CommandContext& context, Action& action);
void add_compare_command(CLI::App& app, CommandContext& context, Action& action);
void add_report_command(CLI::App& app, CommandContext& context, Action& action);
void add_doctor_command(CLI::App& app, CommandContext& context, Action& action);
void add_check_command(CLI::App& app, CommandContext& context, Action& action);
void add_worker_command(CLI::App& app, CommandContext& context, Action& action);
/// Hidden: what the build generates from all other commands, so it is added last.
void add_generate_command(CLI::App& app, CommandContext& context, Action& action);

/// --quiet, --verbose, --no-color.
void add_common_flags(CLI::App& command, CommandContext& context);

}  // namespace opbench
