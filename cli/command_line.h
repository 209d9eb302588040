#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_model.h"
#include "tensor/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace opbench {

/// Runs the chosen command after the command line is parsed; returns the exit code.
using Action = std::function<int()>;

/// Syntax of an option's values on the command line.
enum class ValueSplit {
  usual,      ///< one value; for a vector also all words that follow
  by_commas,  ///< for a vector: several values with commas between them
  one_each,   ///< for a vector: one value, and the option may be repeated
};

/// Display and syntax of an option, in addition to its names and its help.
struct OptionForm {
  std::string value =
      {};  ///< name in --help, such as FILE; it also selects the completion, see command_model.h
  std::string group = {};  ///< heading in --help; empty: "Options"
  ValueSplit values = ValueSplit::usual;
  bool shows_default = false;
  bool is_required = false;
};

/// The parts of --help that CLI11 does not store: examples of groups, common flags of commands.
struct HelpLayout;

/// A subcommand while its options are defined. The variables of its options hold the defaults. They
/// must outlive the parsing, which sets them.
class Command {
 public:
  // `names` as in "-o,--out"; a name without dashes makes an argument of it.
  void option(const std::string& names, std::string& value, const std::string& help,
              const OptionForm& form = {});
  void option(const std::string& names, int& value, const std::string& help,
              const OptionForm& form = {});
  void option(const std::string& names, std::int64_t& value, const std::string& help,
              const OptionForm& form = {});
  void option(const std::string& names, double& value, const std::string& help,
              const OptionForm& form = {});
  void option(const std::string& names, std::optional<double>& value, const std::string& help,
              const OptionForm& form = {});
  void option(const std::string& names, std::vector<std::string>& values, const std::string& help,
              const OptionForm& form = {});
  void option(const std::string& names, std::vector<int>& values, const std::string& help,
              const OptionForm& form = {});
  /// An option without a value: `value` becomes true.
  void flag(const std::string& names, bool& value, const std::string& help,
            const std::string& group = "");

  /// The flags that most users need, by one of their names, in order of use. --help shows these
  /// alone, --help-all shows every flag. Without a call --help shows every flag.
  void common(const std::vector<std::string>& names);

  /// Text below the flags in --help: examples, exit codes.
  void footer(const std::string& text);
  /// Leaves the command out of --help, completion and the manual.
  void hide();
  /// Sets the action that runs the command.
  void action(Action action);

 private:
  friend class CommandLine;
  Command(CLI::App& app, Action& chosen, HelpLayout& layout)
      : app_(app), chosen_(chosen), layout_(layout) {}

  CLI::App& app_;
  Action& chosen_;
  HelpLayout& layout_;
};

/// Error for a command line that cannot be parsed. The message has one line.
struct UsageError : Error {
  using Error::Error;
};

/// The program's command line: its commands, its parser and its help. Only command_line.cc includes
/// CLI11: its headers add ten seconds to each file that includes them.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& summary, const std::string& footer);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// A flag of the program itself.
  void flag(const std::string& names, bool& value, const std::string& help);
  /// Begins a group of commands: the commands that are added next belong to it. --help prints the
  /// title above them and the example below.
  void begin_group(const CommandGroup& group);
  Command add_command(const std::string& name, const std::string& summary);

  /// Returns the action of the chosen command, or the action that prints help to `out` in lines of
  /// at most `width` columns. Errors: throws UsageError.
  Action parse(const std::vector<std::string>& args, std::ostream& out, std::size_t width);

  /// All definitions without hidden commands.
  ProgramModel model() const;

 private:
  std::shared_ptr<HelpLayout> layout_;
  std::unique_ptr<CLI::App> app_;
  Action chosen_;
};

}  // namespace opbench
