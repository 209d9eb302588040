#include <iostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "harness/check/worker.h"

namespace opbench {

void add_worker_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("worker", "What `opbench check` starts: answers on standard output");
  command.hide();  // not for people: left out of --help
  command.action([&context] {
    check::run_worker(std::cin, context.out);
    return kAllWell;
  });
}

}  // namespace opbench
