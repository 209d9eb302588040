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

/// What the chosen command does once the command line is parsed; returns the exit code.
using Action = std::function<int()>;

/// How a command line spells the values of an option.
enum class ValueSplit {
  usual,      ///< one; of a vector: all words that follow, too
  by_commas,  ///< of a vector: several with commas between them
  one_each,   ///< of a vector: one, and the option may be repeated
};

/// How an option is shown and read, besides its names and its help.
struct OptionForm {
  std::string value =
      {};  ///< its name in --help: FILE; says what completes it, see command_model.h
  std::string group = {};  ///< heading in --help; empty: the usual one
  ValueSplit values = ValueSplit::usual;
  bool shows_default = false;
  bool is_required = false;
};

/// The parts of --help that CLI11 does not store: examples of groups, common flags of commands.
struct HelpLayout;

/// A subcommand while its options are defined. The variables that options fill must outlive the
/// parsing; until then they hold the defaults.
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
  /// Not for people: left out of --help and of what is generated.
  void hide();
  /// What the command does.
  void action(Action action);

 private:
  friend class CommandLine;
  Command(CLI::App& app, Action& chosen, HelpLayout& layout)
      : app_(app), chosen_(chosen), layout_(layout) {}

  CLI::App& app_;
  Action& chosen_;
  HelpLayout& layout_;
};

/// A command line that cannot be understood. The message has one line.
struct UsageError : Error {
  using Error::Error;
};

/// The program's command line: its commands, how it is parsed and what --help says. CLI11 does the
/// work, inside command_line.cc alone: its headers cost ten seconds of compiling wherever they are.
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

  /// What `args` ask for: the action of the chosen command, or printing help to `out` in lines of
  /// at most `width` columns. Errors: throws UsageError.
  Action parse(const std::vector<std::string>& args, std::ostream& out, std::size_t width);

  /// What is defined, hidden commands left out.
  ProgramModel model() const;

 private:
  std::shared_ptr<HelpLayout> layout_;
  std::unique_ptr<CLI::App> app_;
  Action chosen_;
};

/// Help in lines of at most `width` columns. What stands in a second column stays there, prose that
/// fills its lines is filled again, and a command that is too long goes on behind a backslash.
std::string help_within(std::string_view text, std::size_t width);

}  // namespace opbench
