#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>
#include <set>
#include <string>

#include "cli/command_model.h"

namespace opbench {
namespace {

// Words as the functions below understand them: what the value is, then the choices.
std::string value_words(const FlagModel& flag) {
  const char* list = flag.takes_list ? "list" : "choice";
  switch (flag.kind) {
    case FlagValue::none:
      return "none";
    case FlagValue::free:
      return "free";
    case FlagValue::file:
      return "file";
    case FlagValue::directory:
      return "directory";
    case FlagValue::choice:
      return fmt::format("{} {}", list, fmt::join(flag.choices, " "));
    case FlagValue::variant:
      return "variant";
  }
  return "free";
}

void write_names(std::ostream& out, const ProgramModel& model) {
  out << "# The flags of a command.\n_opbench_flags() {\n  case $1 in\n";
  for (const CommandModel& command : model.commands) {
    out << "    " << command.name << ") echo '";
    for (const FlagModel& flag : command.flags) {
      out << fmt::format("{} ", fmt::join(flag.names, " "));
    }
    out << "' ;;\n";
  }
  out << "    *) echo '";
  for (const FlagModel& flag : model.program.flags) {
    out << fmt::format("{} ", fmt::join(flag.names, " "));
  }
  out << "' ;;\n  esac\n}\n\n";
}

void write_values(std::ostream& out, const ProgramModel& model) {
  out << "# What the value of a command's flag can be, or of its argument: 'file', 'directory',\n"
         "# 'choice', 'list' (with commas) and the words, 'variant', 'free', or 'none'; 'more' at "
         "its end "
         "where\n"
         "# several words are values.\n_opbench_values() {\n  case \"$1 $2\" in\n";
  for (const CommandModel& command : model.commands) {
    for (const FlagModel& flag : command.flags) {
      if (flag.kind == FlagValue::none) continue;
      std::string patterns;
      for (const std::string& name : flag.names) {
        patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", command.name, name);
      }
      out << fmt::format("    {}) echo '{}{}' ;;\n", patterns, value_words(flag),
                         flag.takes_more ? " more" : "");
    }
    for (const FlagModel& argument : command.arguments) {
      out << fmt::format("    '{} ') echo '{}' ;;\n", command.name, value_words(argument));
    }
  }
  out << "    *) echo none ;;\n  esac\n}\n\n";
}

void write_variants(std::ostream& out) {
  out << "# The variants of an operator; of all without one.\n_opbench_variants() {\n  case $1 "
         "in\n";
  std::set<std::string> all;
  for (const OperatorVariants& entry : variants_by_operator()) {
    out << fmt::format("    {}) echo '{}' ;;\n", entry.op, fmt::join(entry.variants, " "));
    all.insert(entry.variants.begin(), entry.variants.end());
  }
  out << fmt::format("    *) echo '{}' ;;\n  esac\n}}\n\n", fmt::join(all, " "));
}

constexpr const char* kFunctions =
    R"bash(# The operators that the line names with --op OP[,OP] or --case 'OP[...]'.
_opbench_named_operators() {
  local place value
  for ((place = 1; place < COMP_CWORD; place++)); do
    value=${COMP_WORDS[place + 1]}
    if [[ $value == = ]]; then value=${COMP_WORDS[place + 2]}; fi
    case ${COMP_WORDS[place]} in
      --op) echo "${value//,/ }" ;;
      --case) value=${value#[\'\"]}; echo "${value%%\[*}" ;;
    esac
  done
}

# Fills COMPREPLY with the values of a kind that begin with a word.
_opbench_reply() { # word, kind, choices...
  local word=$1 kind=$2 before=
  shift 2
  case $kind in
    file|directory)
      compopt -o filenames 2>/dev/null
      if [[ $kind == file ]]; then mapfile -t COMPREPLY < <(compgen -f -- "$word")
      else mapfile -t COMPREPLY < <(compgen -d -- "$word"); fi ;;
    list)
      if [[ $word == *,* ]]; then before=${word%,*},; fi
      compopt -o nospace 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "$*" -- "${word##*,}") ;;
    variant)
      local operator names=
      for operator in $(_opbench_named_operators); do
        names+=" $(_opbench_variants "$operator")"
      done
      if [[ -z $names ]]; then names=$(_opbench_variants); fi
      # shellcheck disable=SC2086
      _opbench_reply "$word" list $names ;;
    choice) mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word") ;;
  esac
}

_opbench() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} flag= values place at=$COMP_CWORD
  COMPREPLY=()
  # --flag=value comes as three words.
  if [[ $word == = ]]; then word=; elif [[ ${COMP_WORDS[at - 1]} == = ]]; then at=$((at - 1)); fi
  if [[ $COMP_CWORD == 1 && $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_opbench_commands" -- "$word")
    return
  fi
  if [[ $COMP_CWORD == 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_opbench_flags) $(_opbench_flags "$_opbench_default")" -- "$word")
    return
  fi
  if [[ $command == help ]]; then
    if [[ $COMP_CWORD == 2 ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$_opbench_commands" -- "$word")
    fi
    return
  fi
  if [[ $command == -* ]]; then command=$_opbench_default; fi
  # The last flag before the word, and whether the word can be its value.
  for ((place = at - 1; place > 0; place--)); do
    if [[ ${COMP_WORDS[place]} == -* ]]; then flag=${COMP_WORDS[place]}; break; fi
  done
  values=$(_opbench_values "$command" "$flag")
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_opbench_flags "$command")" -- "$word")
    return
  fi
  if [[ -z $flag || $values == none ]] || [[ $place -lt $((at - 1)) && $values != *' more' ]]; then
    values=$(_opbench_values "$command" '')
  fi
  # shellcheck disable=SC2086
  _opbench_reply "$word" ${values% more}
}

complete -F _opbench opbench
)bash";

}  // namespace

void write_bash_completion(std::ostream& out, const ProgramModel& model) {
  std::vector<std::string> names;
  for (const CommandModel& command : model.commands) names.push_back(command.name);
  out << "# bash completion for opbench; generated from its command definitions.\n\n";
  out << fmt::format("_opbench_commands='{}'\n_opbench_default={}\n\n", fmt::join(names, " "),
                     names.front());
  write_names(out, model);
  write_values(out, model);
  write_variants(out);
  out << kFunctions;
}

}  // namespace opbench
