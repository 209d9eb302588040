#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_model.h"
#include "kernels/kernel.h"

namespace opbench {
namespace {

using Words = std::vector<std::string>;

// Splits flags and values into separate words: zsh and fish keep --flag=value as one word, bash
// makes three words.
Words apart(const Words& words) {
  Words result;
  for (const std::string& word : words) {
    const std::size_t is = word.starts_with("-") ? word.find('=') : word.npos;
    if (word != "=") result.push_back(word.substr(0, is));
    if (is != word.npos) result.push_back(word.substr(is + 1));
  }
  if (words.empty() || words.back() == "=") result.emplace_back();
  return result;
}

const CommandModel* find_command(const ProgramModel& model, const std::string& word) {
  if (word.starts_with("-")) return &model.commands.front();
  const auto found = std::ranges::find(model.commands, word, &CommandModel::name);
  return found == model.commands.end() ? nullptr : &*found;
}

// The flag whose value the last word is, else the command's argument; null if there is neither.
const FlagModel* value_of(const CommandModel& command, const Words& words) {
  const auto word = words.end() - 1;
  auto at = word;
  while (at != words.begin() && !(at - 1)->starts_with("-")) --at;
  if (at != words.begin()) {
    for (const FlagModel& flag : command.flags) {
      if (std::ranges::find(flag.names, *(at - 1)) == flag.names.end()) continue;
      if (flag.kind != FlagValue::none && (at == word || flag.takes_more)) return &flag;
    }
  }
  return command.arguments.empty() ? nullptr : &command.arguments.front();
}

void add_variants(std::set<std::string>& names, std::string_view op) {
  for (const Kernel* kernel : kernels_of(op)) names.emplace(kernel->name);
  if (!names.empty()) names.emplace("reference");
}

// The variants of the operators in --op OP[,OP] and --case 'OP[...]', or all variants.
Words variants_of(const FlagModel& flag, const Words& words) {
  std::set<std::string> names;
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    std::string_view rest = words[at + 1];
    if (words[at] == "--case") {
      rest.remove_prefix(std::min(rest.find_first_not_of("'\""), rest.size()));
      add_variants(names, rest.substr(0, rest.find('[')));
    }
    while (words[at] == "--op" && !rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      add_variants(names, rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return names.empty() ? flag.choices : Words(names.begin(), names.end());
}

void write_values(std::ostream& out, const FlagModel& flag, const Words& words) {
  if (flag.kind == FlagValue::file || flag.kind == FlagValue::directory) {
    out << (flag.kind == FlagValue::file ? "file\n" : "directory\n");
    return;
  }
  const bool is_variant = flag.kind == FlagValue::variant;
  const bool is_list = flag.takes_list || is_variant;
  const std::string before = is_list ? words.back().substr(0, words.back().rfind(',') + 1) : "";
  out << (is_list ? "list\n" : "word\n");
  for (const std::string& name : is_variant ? variants_of(flag, words) : flag.choices) {
    out << before << name << '\n';
  }
}

void write_flags(std::ostream& out, const CommandModel& command) {
  for (const FlagModel& flag : command.flags) {
    for (const std::string& name : flag.names) out << name << '\t' << flag.summary << '\n';
  }
}

}  // namespace

void write_candidates(std::ostream& out, const ProgramModel& model, const Words& typed) {
  const Words words = apart(typed);
  const CommandModel* command = find_command(model, words.front());
  const bool is_help = words.front() == "help", is_first = words.size() == 1;
  if (words.back().starts_with("-") && !is_help) {
    out << "word\n";
    if (command != nullptr) write_flags(out, *command);
    if (is_first) write_flags(out, model.program);
  } else if (is_first || is_help) {
    out << "word\n";
    for (const CommandModel& one : model.commands) {
      if (words.size() < 3) out << one.name << '\t' << one.summary << '\n';
    }
  } else if (const FlagModel* value = command ? value_of(*command, words) : nullptr) {
    write_values(out, *value, words);
  }
}

const char* const kBashCompletion =
    R"bash(# bash completion for opbench: the program itself says what can follow.

_opbench() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]/#\~/$HOME} found name
  COMPREPLY=()
  if [[ $word == = ]]; then word=; fi
  mapfile -t found < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  found=("${found[@]%%$'\t'*}")
  case ${found[0]} in
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    list) compopt -o nospace 2>/dev/null ;;&
    *) for name in "${found[@]:1}"; do
         if [[ $name == "$word"* ]]; then COMPREPLY+=("$name"); fi
       done ;;
  esac
}

complete -F _opbench opbench
)bash";

const char* const kZshCompletion = R"zsh(#compdef opbench
# zsh completion for opbench: the program itself says what can follow.

_opbench() {
  local program=${~${(Q)words[1]}}
  local -a found=("${(@f)$("$program" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  local kind=$found[1]
  found=("${(@)${(@)found[2,-1]//:/\\:}/$'\t'/:}")
  if [[ $PREFIX == -* ]]; then compset -P 1 '*='; fi
  case $kind in
    file) _files ;;
    directory) _files -/ ;;
    list) _describe value found -S '' ;;
    *) _describe value found ;;
  esac
}

_opbench "$@"
)zsh";

const char* const kFishCompletion =
    R"fish(# fish completion for opbench: the program itself says what can follow.

function __opbench_candidates
    set -l words (commandline -opc) (commandline -ct)
    set -l flag (string match -r -- '^-[^=]*=' $words[-1])
    set -l word (string replace -r -- '^-[^=]*=' '' $words[-1])
    set -l program (string replace -r -- '^~' $HOME $words[1])
    set -l found ($program __complete $words[2..] 2>/dev/null)
    switch "$found[1]"
        case file
            set found '' (__fish_complete_path $word)
        case directory
            set found '' (__fish_complete_directories $word)
    end
    string join \n -- "$flag"$found[2..]
end

complete -c opbench -f -a '(__opbench_candidates)'
)fish";

}  // namespace opbench
