#include "workers/interrupt.h"

#include <atomic>
#include <csignal>

namespace opbench {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  flag = true;
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  for (const int signal : kSignals) {
    // A signal that the caller ignores (nohup, a background job) stays ignored.
    if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void interrupt() { flag = true; }

bool interrupted() { return flag; }

}  // namespace opbench
