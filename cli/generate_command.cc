#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/man_page.h"
#include "harness/run/machine.h"
#include "tensor/error.h"
#include "tensor/nearest.h"

namespace opbench {
namespace {

struct Generator {
  std::string_view name;
  void (*write)(std::ostream& out, const ProgramModel& model);
};

constexpr Generator kGenerators[] = {
    {"bash", write_bash_completion},
    {"zsh", write_zsh_completion},
    {"fish", write_fish_completion},
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
