#include "cli/earlier_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/command_line.h"

namespace opbench {
namespace {

/// A flag of a command. The command may have an earlier name itself.
struct EarlierFlag {
  std::string_view command, earlier, now;
};

constexpr EarlierFlag kEarlierFlags[] = {
    {"extract", "-s", "--path"},       {"extract", "--source", "--path"},
    {"extract", "--output", "--out"},  {"merge", "--output", "--out"},
    {"minimise", "--output", "--out"}, {"report", "--output", "--out"},
    {"report", "--format", "--to"},    {"opmap", "--as", "--to"},
};

// The second argument of `explain FILE CASE` becomes a flag.
void name_the_case(std::vector<std::string>& args) {
  const auto is_argument = [](const std::string& word) { return !word.starts_with("-"); };
  const auto file = std::find_if(args.begin() + 1, args.end(), is_argument);
  if (file == args.end()) return;
  const auto wanted = std::find_if(file + 1, args.end(), is_argument);
  if (wanted != args.end()) wanted->insert(0, "--case=");
}

bool selects_or_asks(std::string_view word) {
  constexpr std::string_view kFlags[] = {"--path", "--only", "--failed", "--help", "-h"};
  return std::find(std::begin(kFlags), std::end(kFlags), word.substr(0, word.find('='))) !=
         std::end(kFlags);
}

void replace_command(std::vector<std::string>& args, std::vector<std::string> now) {
  args.erase(args.begin());
  args.insert(args.begin(), now.begin(), now.end());
}

}  // namespace

void use_todays_names(std::vector<std::string>& args) {
  const std::string command = args.front();
  for (std::string& word : args) {
    for (const EarlierFlag& flag : kEarlierFlags) {
      const std::string_view name = std::string_view(word).substr(0, word.find('='));
      if (flag.command == command && flag.earlier == name) word.replace(0, name.size(), flag.now);
    }
  }
  if (command == "extract") {
    const bool is_answered = std::any_of(args.begin(), args.end(), selects_or_asks);
    replace_command(args, {"convert", "--to", "h5"});
    // `convert` takes all then; `extract` never did.
    if (!is_answered) {
      throw UsageError("nothing is selected: use -s /op/number, --only REGEX or --failed FILE");
    }
  }
  if (command != "explain") return;
  name_the_case(args);
  replace_command(args, {"report", "--to", "words"});
}

std::string earlier_names_text() {
  std::string text =
      "\nEarlier names, which are still accepted:\n"
      "  extract DUMP        convert DUMP --to h5\n"
      "  explain FILE CASE   report FILE --to words --case CASE\n";
  for (const EarlierFlag& flag : kEarlierFlags) {
    text +=
        fmt::format("  {:<18}  {}\n", fmt::format("{} {}", flag.command, flag.earlier), flag.now);
  }
  return text;
}

}  // namespace opbench
