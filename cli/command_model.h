#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace opbench {

/// Kind of a flag's value.
enum class FlagValue {
  none,  ///< the flag has no value
  free,  ///< anything
  file,
  directory,
  choice,   ///< one of `choices`
  variant,  ///< a variant of the operators on the command line, or one of `choices` without them
};

/// A flag or an argument without one, as its command defines it.
struct FlagModel {
  std::vector<std::string> names;  ///< "-o", "--output"; the value's name for an argument
  std::string value_name;          ///< "FILE"; empty for a flag without value
  std::string summary, group, default_value;
  FlagValue kind = FlagValue::none;
  std::vector<std::string> choices;
  bool takes_list = false;  ///< several values with commas between them
  bool takes_more = false;  ///< all words that follow are values
  bool is_required = false;
};

/// Commands that answer one question.
struct CommandGroup {
  std::string title;    ///< the question
  std::string example;  ///< a command line
};

struct CommandModel {
  std::string name;   ///< empty for the program itself
  std::string group;  ///< title of its group; empty for the program itself
  std::string summary, footer;
  std::vector<FlagModel> flags, arguments;
};

/// The program and its commands. Completion and the man page are generated from it.
struct ProgramModel {
  CommandModel program;
  std::vector<CommandGroup> groups;
  std::vector<CommandModel> commands;  ///< the first is the default one
};

/// Sets the kind of the value and its choices from the value's name: FILE, DIR, OP, VARIANT, DTYPE,
/// FORMAT, ISA, other names for files (PROGRAM), or the values themselves as in "a|b|c".
void set_kind(FlagModel& flag);

/// Writes candidates for the last word after the program's name, one a line. A description follows
/// a tab. The shell itself removes candidates that do not begin with the typed text. The first line
/// is the kind of completion: "word"; "list", more words may follow a comma; "file" and
/// "directory", whose names the shell finds. Flags without a command are those of the default
/// command.
void write_candidates(std::ostream& out, const ProgramModel& model,
                      const std::vector<std::string>& words);

/// Scripts that ask the program `__complete WORDS...` for its candidates.
extern const char* const kBashCompletion;
extern const char* const kZshCompletion;
extern const char* const kFishCompletion;

}  // namespace opbench
