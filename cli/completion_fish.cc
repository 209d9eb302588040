#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>
#include <set>
#include <string>

#include "cli/command_model.h"

namespace opbench {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "'";
}

std::string value_of(const FlagModel& flag) {
  switch (flag.kind) {
    case FlagValue::none:
      return "";
    case FlagValue::free:
      return " -x";
    case FlagValue::file:
      return " -r -F";
    case FlagValue::directory:
      return " -x -a '(__fish_complete_directories)'";
    case FlagValue::choice:
      return flag.takes_list
                 ? fmt::format(" -x -a '(__fish_append , {})'", fmt::join(flag.choices, " "))
                 : fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
    case FlagValue::variant:
      return " -x -a '(__fish_append , (__opbench_variants))'";
  }
  return "";
}

// Those of the operators that the line names, or all.
void write_variants(std::ostream& out) {
  out << "function __opbench_variants\n  set -l words (commandline -opc)\n  set -l operators\n"
         "  for place in (seq (count $words))\n"
         "    set -l next (math $place + 1)\n"
         "    switch $words[$place]\n"
         "      case --op\n        set -a operators (string split , -- $words[$next])\n"
         "      case '--op=*'\n"
         "        set -a operators (string split , -- (string replace -- --op= '' "
         "$words[$place]))\n"
         "      case --case\n"
         "        set -a operators (string split -m1 '[' -- $words[$next])[1]\n"
         "    end\n  end\n"
         "  if test (count $operators) -eq 0\n    set operators all\n  end\n"
         "  for operator in $operators\n    switch $operator\n";
  std::set<std::string> all;
  for (const OperatorVariants& entry : variants_by_operator()) {
    out << fmt::format("      case {}\n        string split ' ' -- '{}'\n", entry.op,
                       fmt::join(entry.variants, " "));
    all.insert(entry.variants.begin(), entry.variants.end());
  }
  out << fmt::format("      case '*'\n        string split ' ' -- '{}'\n", fmt::join(all, " "))
      << "    end\n  end\nend\n\n";
}

void write_flag(std::ostream& out, const std::string& command, const FlagModel& flag) {
  out << fmt::format("complete -c opbench -n '__opbench_command {}'", command);
  for (const std::string& name : flag.names) {
    out << (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
  }
  out << value_of(flag) << " -d " << quoted(flag.summary) << '\n';
}

}  // namespace

void write_fish_completion(std::ostream& out, const ProgramModel& model) {
  out << "# fish completion for opbench; generated from its command definitions.\n\n"
         "# True if the command of the line is the one named; '' before there is one.\n"
         "function __opbench_command\n"
         "  set -l words (commandline -opc)\n"
         "  set -l command ''\n"
         "  if test (count $words) -gt 1\n"
         "    set command $words[2]\n"
         "    if string match -q -- '-*' $command\n"
      << "      set command " << model.commands.front().name << "\n    end\n  end\n"
      << "  test \"$command\" = \"$argv[1]\"\nend\n\n";
  write_variants(out);
  out << "complete -c opbench -f\n";
  for (const CommandModel& command : model.commands) {
    for (const char* before : {"\"\"", "help"}) {
      out << fmt::format("complete -c opbench -n '__opbench_command {}' -a {} -d {}\n", before,
                         command.name, quoted(command.summary));
    }
  }
  for (const FlagModel& flag : model.program.flags) write_flag(out, "\"\"", flag);
  for (const FlagModel& flag : model.commands.front().flags) {
    // Without a command the default one is meant; -h is there already.
    if (flag.names.back() != "--help") write_flag(out, "\"\"", flag);
  }
  for (const CommandModel& command : model.commands) {
    for (const FlagModel& flag : command.flags) write_flag(out, command.name, flag);
    for (const FlagModel& argument : command.arguments) {
      out << fmt::format("complete -c opbench -n '__opbench_command {}'{} -d {}\n", command.name,
                         argument.kind == FlagValue::file ? " -F" : value_of(argument),
                         quoted(argument.summary));
    }
  }
}

}  // namespace opbench
