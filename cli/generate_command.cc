#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/shell/completion.h"
#include "cli/shell/man_page.h"
#include "harness/record/machine.h"
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

int generate(const CLI::App& app, const std::string& what, std::ostream& out) {
  std::vector<std::string> names;
  for (const Generator& generator : kGenerators) {
    names.emplace_back(generator.name);
    if (generator.name != what) continue;
    generator.write(out, model_of(app));
    return kAllWell;
  }
  throw Error("cannot generate '" + what + "'" + suggestion(what, names));
}

}  // namespace

void add_generate_command(CLI::App& app, CommandContext& context, Action& action) {
  CLI::App* command =
      app.add_subcommand("__generate", "Shell completion (bash, zsh, fish) or the manual (man)");
  command->group("");  // for the build, not for users
  const auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "bash, zsh, fish or man")->required();
  command->callback([&app, &context, &action, what] {
    action = [&app, &context, what] { return generate(app, *what, context.out); };
  });
}

}  // namespace opbench
