#include "opbench/waiting_threads.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "kernels/kernel.h"

namespace opbench {
namespace {

constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
// About 30 us, longer than the threads of a call that shares its work out evenly wait for each
// other. By default it is 300,000, some 10 ms: where another program holds the core of the thread
// that is waited for, a call takes whole ticks of the scheduler instead of microseconds. Without
// any spinning (OMP_WAIT_POLICY=passive), a call of 14 us takes 30 us on a quiet machine.
constexpr const char* kSpins = "1000";

}  // namespace

void limit_spinning(const char* const* argv) {
  if (vendor_version().empty()) return;
  if (std::getenv(kSpinCount) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv(kSpinCount, kSpins, 0);
  // By its path, so that it keeps its name among the processes.
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) return;
  execv(path.data(), const_cast<char* const*>(argv));
}

}  // namespace opbench
