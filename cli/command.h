#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "tensor/error.h"
#include "workers/ranks.h"

namespace opbench {

/// Output streams, output options and the command line as typed, for every command.
struct CommandContext {
  std::ostream& out;  ///< text for users
  std::ostream& err;
  std::string command_line;
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  bool overwrite = false;              ///< results replace existing files
  Ranks& ranks = Ranks::alone();       ///< all ranks that run this command line
  std::vector<std::string> args = {};  ///< words of `command_line`, without the program

  /// Prints one line to `err` after the program's name, such as the reason of an exit code that is
  /// not 0. Control characters are escaped.
  void complain(std::string_view message) const;
  /// True on a terminal, unless --no-color or NO_COLOR is set.
  bool colour() const;
  /// True if progress overwrites one line; else it is printed in plain lines.
  bool is_progress_overwritten() const;
  /// Columns of the terminal behind `out`; else the value of COLUMNS, else 80.
  std::size_t width() const;
  /// Columns that a progress line may fill.
  std::size_t progress_width() const;
};

/// Each adds one subcommand: its flags, and what it does.
void add_run_command(CommandLine& line, CommandContext& context);
void add_list_command(CommandLine& line, CommandContext& context);
void add_script_command(CommandLine& line, CommandContext& context);
void add_compare_command(CommandLine& line, CommandContext& context);
void add_show_command(CommandLine& line, CommandContext& context);
void add_overflow_command(CommandLine& line, CommandContext& context);
void add_ingest_command(CommandLine& line, CommandContext& context);
void add_remedy_command(CommandLine& line, CommandContext& context);
void add_convert_command(CommandLine& line, CommandContext& context);
void add_report_command(CommandLine& line, CommandContext& context);
void add_doctor_command(CommandLine& line, CommandContext& context);
void add_invariance_command(CommandLine& line, CommandContext& context);
void add_judge_command(CommandLine& line, CommandContext& context);
void add_minimise_command(CommandLine& line, CommandContext& context);
void add_opmap_command(CommandLine& line, CommandContext& context);
void add_merge_command(CommandLine& line, CommandContext& context);
void add_check_command(CommandLine& line, CommandContext& context);
void add_worker_command(CommandLine& line, CommandContext& context);
void add_unit_worker_command(CommandLine& line, CommandContext& context);
/// Hidden: generates completions and the manual from all other commands, so it is added last.
void add_generate_command(CommandLine& line, CommandContext& context);

/// Flags, each with true if it is given.
using GivenFlags = std::vector<std::pair<const char*, bool>>;
/// Throws Error "--flag why" for the first flag that is given.
void refuse_given(const GivenFlags& flags, std::string_view why);

/// Throws Error "--threads is 0; it must be from 1 to 1024" if `value` is outside of the range or
/// NaN.
template <class T>
void check_range(const char* flag, T value, std::type_identity_t<T> least,
                 std::type_identity_t<T> most) {
  if (value >= least && value <= most) return;
  throw Error(fmt::format("{} is {}; it must be from {} to {}", flag, value, least, most));
}

/// --quiet, --verbose, --no-color.
void add_common_flags(Command& command, CommandContext& context);
/// --overwrite, for a command that writes files.
void add_overwrite_flag(Command& command, CommandContext& context, const std::string& group = "");

}  // namespace opbench
