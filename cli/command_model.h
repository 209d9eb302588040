#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace opbench {

/// What the value of a flag can be.
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
  bool takes_more = false;  ///< words that follow are values too
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

/// The program and its commands, for whatever is generated from them: completion, man page.
struct ProgramModel {
  CommandModel program;
  std::vector<CommandGroup> groups;
  std::vector<CommandModel> commands;  ///< the first is the default one
};

/// Sets what the value can be, and its choices, from the name of the value: FILE, DIR, OP, VARIANT,
/// DTYPE, FORMAT, ISA, files by other names (PROGRAM), or the values themselves as in
/// "a|b|c".
void set_kind(FlagModel& flag);

/// Candidates for the last of the words that follow the program's name, one a line, with a tab and
/// a description where there is one. They are not narrowed to what the word begins with: shells do
/// that. A first line tells how the shell completes: "word"; "list", more words may follow a comma;
/// "file" and "directory", whose names the shell finds itself. Without a command the flags of the
/// default one are meant, as on the command line.
void write_candidates(std::ostream& out, const ProgramModel& model,
                      const std::vector<std::string>& words);

/// Scripts that ask the program `__complete WORDS...` for its candidates.
extern const char* const kBashCompletion;
extern const char* const kZshCompletion;
extern const char* const kFishCompletion;

}  // namespace opbench
