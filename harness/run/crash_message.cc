#include "harness/run/crash_message.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "tensor/utf8.h"
#include "text/program.h"

namespace opbench {
namespace {

/// A signal that ends a faulty process, and its description.
struct Crash {
  int number;
  std::string_view text;
};
constexpr std::array kCrashes = {
    Crash{SIGSEGV, " crashed (SIGSEGV)"}, Crash{SIGBUS, " crashed (SIGBUS)"},
    Crash{SIGFPE, " crashed (SIGFPE)"},   Crash{SIGILL, " crashed (SIGILL)"},
    Crash{SIGABRT, " crashed (SIGABRT)"},
};
constexpr std::string_view kRemedy =
    "; leave it out with --variant, or let --unit-timeout 600 run each case in a process of its "
    "own\n";

// Messages are formatted beforehand, because a signal handler must not allocate. Two buffers are
// used in turn, so that a message is not read while it is written.
std::array<std::array<char, 1024>, 2> messages;
std::atomic<const char*> message = nullptr;

void write_text(std::string_view text) {
  [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, text.data(), text.size());
}

// Uses async-signal-safe functions only.
void on_crash(int number) {
  signal(number, SIG_DFL);
  if (const char* text = message) {
    write_text(text);
    for (const Crash& crash : kCrashes) {
      if (crash.number == number) write_text(crash.text);
    }
    write_text(kRemedy);
  }
  raise(number);
}

}  // namespace

void report_crashes() {
  // Alternate signal stack, because an overflowed stack cannot hold the handler. Only the main
  // thread has one.
  static std::array<char, 64 * 1024> stack;
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
  for (const Crash& crash : kCrashes) {
    struct sigaction before {};
    sigaction(crash.number, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    sigaction(crash.number, &action, nullptr);
  }
}

void set_what_runs(std::string_view what) {
  static std::size_t next = 0;
  if (what.empty()) {
    message = nullptr;
    return;
  }
  std::array<char, 1024>& buffer = messages[next++ % messages.size()];
  const std::string text = fmt::format("{}: {}", program_name(), printable(what));
  const std::size_t length = std::min(text.size(), buffer.size() - 1);
  std::copy_n(text.data(), length, buffer.data());
  buffer[length] = '\0';
  message = buffer.data();
}

}  // namespace opbench
