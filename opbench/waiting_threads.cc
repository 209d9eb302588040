#include "opbench/waiting_threads.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "kernels/kernel.h"

namespace opbench {
namespace {

constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
// Iterations, about 30 us: longer than the threads of an evenly divided call wait for each other.
// libgomp's default is 300,000, about 10 ms. If another program occupies the core of an awaited
// thread, a call then takes whole scheduler ticks instead of microseconds. Without spinning
// (OMP_WAIT_POLICY=passive), a call of 14 us takes 30 us on a quiet machine.
constexpr const char* kSpins = "1000";

}  // namespace

void limit_spinning(const char* const* argv) {
  if (vendor_version().empty()) return;
  if (std::getenv(kSpinCount) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv(kSpinCount, kSpins, 0);
  // The path, not /proc/self/exe, keeps the name of the process.
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) return;
  execv(path.data(), const_cast<char* const*>(argv));
}

}  // namespace opbench
