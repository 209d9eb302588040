// Runs the kernels of a shared library for opbench, in a process of their own. docs/devices.md
// describes the messages.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "opbench/guest/channel.h"
#include "opbench/guest/guest.h"

namespace {

constexpr char kUsage[] =
    "usage: opbench_guest LIBRARY [FUNCTION=OPERATOR..]\n"
    "opbench starts it for --kernels LIBRARY and writes to its standard input.\n";

opbench::guest::Channel* channel = nullptr;
bool is_answering = false;

/// Called by exit(). A kernel that ends the process gets an answer, too.
void report_exit(int code, void*) {
  if (is_answering)
    channel->write("{\"error\":\"the library called exit(" + std::to_string(code) + ")\"}");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<opbench::guest::Mapping> mappings;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == word.size()) {
      std::fprintf(stderr, "opbench_guest: '%s' is not FUNCTION=OPERATOR\n%s", argv[i], kUsage);
      return 2;
    }
    mappings.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  static opbench::guest::Channel lines;
  channel = &lines;
  on_exit(report_exit, nullptr);
  opbench::guest::Guest guest(argv[1], mappings);
  for (std::string line; lines.read(line);) {
    is_answering = true;
    const std::string answer = guest.answer(line);
    is_answering = false;
    lines.write(answer);
  }
  guest.close_all();
  std::fflush(nullptr);
  _exit(0);  // destructors of a library may crash
}
