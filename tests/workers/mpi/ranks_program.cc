// Started by mpirun: runs ranks together, without the rest of opbench.
//   ranks_program squares N   the sum of the first N squares, by units
//   ranks_program tiny N      N units that do nothing: overhead and rank 0's share of a core
//   ranks_program throw       a unit throws on the last rank
//   ranks_program die         the last rank ends without a message
//   ranks_program plan        the last rank has another plan
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tensor/error.h"
#include "workers/dispatch.h"

namespace opbench {
namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int run(Ranks& ranks, const std::string& mode, std::size_t count) {
  const bool is_last = ranks.rank() == ranks.size() - 1;
  const std::string plan = mode == "plan" && is_last ? "another" : "the same";
  const UnitWork work = [&](std::string_view unit) -> std::string {
    if (mode == "throw" && is_last) throw Error("this unit cannot be done");
    if (mode == "die" && is_last) raise(SIGKILL);
    if (mode == "throw" || mode == "die") std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto number = std::stoull(std::string(unit));
    return std::to_string(number * number);
  };
  if (!ranks.is_first()) {
    while (serve(ranks, plan, work)) {
    }
    return 0;
  }
  UnitQueue units;
  for (std::size_t i = 0; i < count; ++i) units.add(std::to_string(i), mode == "tiny" ? 1e-6 : 1.0);
  unsigned long long sum = 0;
  DispatchHooks hooks;
  hooks.done = [&](std::size_t, const std::string& result) { sum += std::stoull(result); };
  const double begin = cpu_seconds();
  const DispatchState state = dispatch(ranks, plan, units, work, hooks);
  std::cout << fmt::format("{} ranks, {} units, sum {}\n", ranks.size(), state.done, sum);
  if (mode == "tiny") {
    std::cout << fmt::format("{:.1f} us of wall time a unit, rank 0 at {:.0f} % of a core\n",
                             1e6 * state.wall_seconds / static_cast<double>(state.done),
                             100 * (cpu_seconds() - begin) / state.wall_seconds);
  }
  return 0;
}

}  // namespace
}  // namespace opbench

int main(int argc, char** argv) {
  std::optional<opbench::Ranks> ranks;
  std::string message;
  int code = 0;
  try {
    ranks.emplace(opbench::start_ranks());
    code = opbench::run(*ranks, argc > 1 ? argv[1] : "squares",
                        argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64);
  } catch (const opbench::Error& error) {
    message = error.what();
    code = 3;
    if (!ranks || ranks->is_first()) std::cerr << "ranks_program: " << message << '\n';
  }
  return ranks ? ranks->finish(code, message) : code;
}
