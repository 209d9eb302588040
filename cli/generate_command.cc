#include <fmt/format.h>

#include <algorithm>
#include <iosfwd>
#include <ostream>
#include <sstream>
#include <string>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/command_model.h"
#include "harness/run/machine.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Escapes text for troff: no requests at the beginning of a line, and hyphens that can be copied.
std::string escaped(const std::string& text) {
  std::string result;
  bool begins_line = true;
  for (const char letter : text) {
    if (begins_line && (letter == '.' || letter == '\'')) result += "\\&";
    begins_line = letter == '\n';
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
  }
  return result;
}

std::string values_text(const FlagModel& flag) {
  std::string text = escaped(flag.summary);
  if (!flag.default_value.empty())
    text += fmt::format(" (default {})", escaped(flag.default_value));
  return text;
}

void write_flag(std::ostream& out, const FlagModel& flag) {
  out << ".TP\n";
  const char* separator = "";
  for (const std::string& name : flag.names) {
    out << separator << "\\fB" << escaped(name) << "\\fR";
    separator = ", ";
  }
  const bool is_argument = flag.names.front() == flag.value_name;
  if (!flag.value_name.empty() && !is_argument) {
    out << " \\fI" << escaped(flag.value_name) << "\\fR";
  }
  out << '\n' << values_text(flag) << '\n';
}

// Groups in the order of their first flag. Flags without a group come last.
void write_flags(std::ostream& out, const std::vector<FlagModel>& flags) {
  constexpr const char* kNoGroup = "Options";
  std::vector<std::string> groups;
  for (const FlagModel& flag : flags) {
    const bool is_new = std::find(groups.begin(), groups.end(), flag.group) == groups.end();
    if (is_new && flag.group != kNoGroup) groups.push_back(flag.group);
  }
  groups.emplace_back(kNoGroup);
  for (const std::string& group : groups) {
    if (group != kNoGroup) out << ".PP\n" << escaped(group) << ":\n";
    if (group == kNoGroup && groups.size() > 1) out << ".PP\nOther options:\n";
    for (const FlagModel& flag : flags) {
      if (flag.group == group) write_flag(out, flag);
    }
  }
}

// Keeps all line breaks, so that examples can be copied.
void write_plain(std::ostream& out, const std::string& text) {
  if (text.empty()) return;
  out << ".PP\n.nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out << (line.empty() ? ".sp" : escaped(line)) << '\n';
  }
  out << ".fi\n";
}

void write_command(std::ostream& out, const CommandModel& command, bool is_default) {
  out << ".SS \"opbench " << (is_default ? "[" : "") << escaped(command.name)
      << (is_default ? "]" : "") << " [\\fIoptions\\fP]";
  for (const FlagModel& argument : command.arguments) {
    const std::string name = escaped(argument.value_name);
    out << (argument.is_required ? fmt::format(" \\fI{}\\fP...", name)
                                 : fmt::format(" [\\fI{}\\fP...]", name));
  }
  out << "\"\n" << escaped(command.summary) << ".\n";
  for (const FlagModel& argument : command.arguments) write_flag(out, argument);
  write_flags(out, command.flags);
  write_plain(out, command.footer);
}

// The commands of a group in one paragraph, with an example.
void write_group(std::ostream& out, const ProgramModel& model, const CommandGroup& group) {
  out << ".TP\n" << escaped(group.title) << '\n';
  const char* separator = "";
  for (const CommandModel& command : model.commands) {
    if (command.group != group.title) continue;
    out << separator << "\\fB" << escaped(command.name) << "\\fR";
    separator = ", ";
  }
  out << "\n.br\nExample: " << escaped(group.example) << '\n';
}

// opbench(1) in the man macros of troff: every command with its flags and examples.
void write_man_page(std::ostream& out, const ProgramModel& model, const std::string& version) {
  out << ".\\\" Generated from the command definitions of opbench.\n"
      << ".TH OPBENCH 1 \"\" \"opbench " << escaped(version) << "\" \"User Commands\"\n"
      << ".SH NAME\nopbench \\- time operators and prove that variants compute the same\n"
      << ".SH SYNOPSIS\n.B opbench\n[\\fIcommand\\fR] [\\fIoptions\\fR]\n"
      << ".SH DESCRIPTION\n"
      << escaped(model.program.summary) << ".\n";
  write_flags(out, model.program.flags);
  write_plain(out, model.program.footer);
  out << ".SH COMMANDS\n";
  for (const CommandGroup& group : model.groups) write_group(out, model, group);
  for (const CommandModel& command : model.commands) {
    write_command(out, command, &command == &model.commands.front());
  }
  out << ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf it is set and not empty, output has no colours.\n";
}

struct Generator {
  std::string_view name;
  void (*write)(std::ostream& out, const ProgramModel& model);
};

constexpr Generator kGenerators[] = {
    {"bash", [](std::ostream& out, const ProgramModel&) { out << kBashCompletion; }},
    {"zsh", [](std::ostream& out, const ProgramModel&) { out << kZshCompletion; }},
    {"fish", [](std::ostream& out, const ProgramModel&) { out << kFishCompletion; }},
    {"man",
     [](std::ostream& out, const ProgramModel& model) {
       write_man_page(out, model, describe_machine().version);
     }},
};

int generate(const CommandLine& line, const std::string& what, std::ostream& out) {
  std::vector<std::string> names;
  for (const Generator& generator : kGenerators) {
    names.emplace_back(generator.name);
    if (generator.name != what) continue;
    generator.write(out, line.model());
    return kAllWell;
  }
  throw Error("cannot generate '" + what + "'" + suggestion(what, names));
}

}  // namespace

void add_generate_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("__generate", "Shell completion (bash, zsh, fish) or the manual (man)");
  command.hide();  // for the build, not for users
  const auto what = std::make_shared<std::string>();
  command.option("WHAT", *what, "bash, zsh, fish or man", {.is_required = true});
  command.action([&line, &context, what] { return generate(line, *what, context.out); });
}

}  // namespace opbench
