#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "cli/cli.h"

int main(int argc, char** argv) {
  // A reader that goes away (| head) or a file size limit is an error to report, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return opbench::run_cli(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
