// Runs the kernels of a shared library for opbench, in a process of their own. docs/devices.md
// describes the messages.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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

/// A kernel may take three quarters of the machine's memory: opbench and its tensors stay. Private
/// memory is limited, not address space, which libraries of devices reserve.
void limit_memory() {
  const auto page = rlim_t(sysconf(_SC_PAGESIZE));
  unsigned long long pages = 0;  // of private memory; a sanitizer has terabytes
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  rlimit limit = {};
  getrlimit(RLIMIT_DATA, &limit);
  const rlim_t most = page * (pages + rlim_t(sysconf(_SC_PHYS_PAGES)) / 4 * 3);
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_cur, most);
  setrlimit(RLIMIT_DATA, &limit);
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
  limit_memory();
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
