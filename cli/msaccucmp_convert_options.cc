#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/command_line.h"
#include "cli/msaccucmp_options.h"

namespace opbench {
namespace {

struct Option {
  std::string_view theirs, ours;
};

constexpr std::array kOptions = {
    Option{"-d", "--device-dump"},  Option{"--dump_path", "--device-dump"},
    Option{"-out", "--out"},        Option{"--output", "--out"},
    Option{"-f", "--format"},       Option{"-s", "--shape"},
    Option{"-i", "--input-index"},  Option{"-o", "--output-index"},
    Option{"-v", "--dump-version"}, Option{"-t", "--type"},
};

std::string_view name_in(std::string_view word) { return word.substr(0, word.find('=')); }

}  // namespace

void translate_msaccucmp_convert_options(std::vector<std::string>& args) {
  const auto names_dumps = [](std::string_view word) {
    return name_in(word) == "-d" || name_in(word) == "--dump_path";
  };
  if (std::none_of(args.begin(), args.end(), names_dumps)) return;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string_view name = name_in(args[i]);
    if (name == "-c") throw UsageError("-c is not supported: it runs a program on the data");
    const auto option = std::find_if(kOptions.begin(), kOptions.end(),
                                     [&](const Option& known) { return known.theirs == name; });
    if (option == kOptions.end()) continue;
    const bool has_value = name.size() < args[i].size();
    if (!has_value && i + 1 == args.size()) {
      throw UsageError(fmt::format("{} needs a value", option->theirs));
    }
    args[i].replace(0, name.size(), option->ours);
    if (!has_value) ++i;  // which may look like an option
  }
}

std::string msaccucmp_convert_options_help() {
  return "With -d the command line is msaccucmp's: -d -out -f -s -i -o -v -t. -c is refused.";
}

}  // namespace opbench
