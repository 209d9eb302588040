#include <iostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "harness/check/worker.h"

namespace opbench {

void add_worker_command(CLI::App& app, CommandContext& context, Action& action) {
  CLI::App* command =
      app.add_subcommand("worker", "What `opbench check` starts: answers on standard output");
  command->group("");  // not for people: left out of --help
  command->callback([&context, &action] {
    action = [&context] {
      run_check_worker(std::cin, context.out);
      return kAllWell;
    };
  });
}

}  // namespace opbench
