#include "harness/interrupt.h"

#include <atomic>
#include <csignal>

namespace opbench {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  flag = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() { return flag; }

void set_interrupted(bool value) { flag = value; }

}  // namespace opbench
