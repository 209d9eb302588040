#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>
#include <set>
#include <string>

#include "cli/command_model.h"

namespace opbench {
namespace {

// Inside single quotes, where _arguments reads brackets and colons.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

std::string action_of(const FlagModel& flag) {
  switch (flag.kind) {
    case FlagValue::file:
      return "_files";
    case FlagValue::directory:
      return "_files -/";
    case FlagValue::choice:
      return flag.takes_list
                 ? fmt::format("_values -s , {} {}", flag.value_name, fmt::join(flag.choices, " "))
                 : fmt::format("({})", fmt::join(flag.choices, " "));
    case FlagValue::variant:
      return "_opbench_variants";
    default:
      return " ";
  }
}

// "'*'{-o,--output}'[Where to write it]:FILE:_files'"
void write_flag(std::ostream& out, const FlagModel& flag) {
  const std::string names = flag.names.size() == 1
                                ? flag.names.front()
                                : fmt::format("'{{{}}}'", fmt::join(flag.names, ","));
  out << fmt::format(" \\\n        '*{}[{}]", names, escaped(flag.summary));
  if (flag.kind != FlagValue::none) {
    const bool is_chosen = flag.kind == FlagValue::choice || flag.kind == FlagValue::variant;
    const std::string value_name = is_chosen ? "value" : flag.value_name;
    out << fmt::format(":{}:{}", escaped(value_name), action_of(flag));
  }
  out << '\'';
}

void write_command(std::ostream& out, const CommandModel& command) {
  out << "    " << command.name << ")\n      _arguments -s";
  for (const FlagModel& flag : command.flags) write_flag(out, flag);
  for (const FlagModel& argument : command.arguments) {
    out << fmt::format(" \\\n        '*:{}:{}'", escaped(argument.summary), action_of(argument));
  }
  out << "\n      ;;\n";
}

// Those of the operators that the line names, or all.
void write_variants(std::ostream& out) {
  out << "_opbench_variants() {\n  local -a operators names\n  local place operator\n"
         "  for ((place = 1; place < CURRENT; place++)); do\n"
         "    case $words[place] in\n"
         "      --op) operators+=(${(s:,:)words[place + 1]}) ;;\n"
         "      --op=*) operators+=(${(s:,:)${words[place]#--op=}}) ;;\n"
         "      --case) operators+=(${${(Q)words[place + 1]}%%\\[*}) ;;\n"
         "    esac\n  done\n"
         "  for operator in ${operators:-all}; do\n    case $operator in\n";
  std::set<std::string> all;
  for (const OperatorVariants& entry : variants_by_operator()) {
    out << fmt::format("      {}) names+=({}) ;;\n", entry.op, fmt::join(entry.variants, " "));
    all.insert(entry.variants.begin(), entry.variants.end());
  }
  out << fmt::format("      *) names+=({}) ;;\n", fmt::join(all, " "))
      << "    esac\n  done\n  _values -s , VARIANT ${(u)names}\n}\n\n";
}

}  // namespace

void write_zsh_completion(std::ostream& out, const ProgramModel& model) {
  out << "#compdef opbench\n# zsh completion for opbench; generated from its command "
         "definitions.\n\n";
  write_variants(out);
  out << "_opbench() {\n  local -a commands=(\n";
  for (const CommandModel& command : model.commands) {
    out << fmt::format("    '{}:{}'\n", command.name, escaped(command.summary));
  }
  out << "  )\n  local command=" << model.commands.front().name
      << "\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
         "    _describe command commands\n    return\n  fi\n"
         "  if [[ $words[2] == help ]]; then\n"
         "    (( CURRENT == 3 )) && _describe command commands\n    return\n  fi\n"
         "  if [[ $words[2] != -* ]]; then\n"
         "    command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
         "  elif (( CURRENT == 2 )); then\n    _arguments -s";
  for (const FlagModel& flag : model.program.flags) write_flag(out, flag);
  out << "\n  fi\n  case $command in\n";
  for (const CommandModel& command : model.commands) write_command(out, command);
  out << "  esac\n}\n\n_opbench \"$@\"\n";
}

}  // namespace opbench
