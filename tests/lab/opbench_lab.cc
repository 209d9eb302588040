// Tests if the harness can be deceived, and which errors its tolerances detect: kernels that cheat
// or are broken run in the pipeline of every run.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "opbench/waiting_threads.h"
#include "tensor/error.h"
#include "tests/lab/commands.h"
#include "text/program.h"

int main(int argc, char** argv) {
  using namespace opbench;
  limit_spinning(argv);
  set_program_name(argv[0]);
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty()) args.emplace_back("--help");
  CommandContext context{.out = std::cout, .err = std::cerr, .command_line = {}};
  CommandLine line(program_name(), "opbench_lab tries what bad kernels get past opbench", "");
  add_selftest_command(line, context);
  add_audit_command(line, context);
  try {
    return line.parse(args, std::cout, context.width())();
  } catch (const RunError& error) {
    context.complain(error.what());
    return kCouldNotFinish;
  } catch (const Error& error) {
    context.complain(error.what());
    return kBadInput;
  } catch (const std::exception& error) {  // includes an interrupted run without a record
    context.complain(error.what());
    return kCouldNotFinish;
  }
}
