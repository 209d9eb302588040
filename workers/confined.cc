#include "workers/confined.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <utility>
#include <vector>

namespace opbench {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

constexpr rlim_t kMostMemory = rlim_t{8} << 30;  // in addition to the parent's memory
constexpr std::time_t kPatienceSeconds = 30;     // of processor time, without waiting for disks

std::atomic<unsigned> progress{0};
static_assert(std::atomic<unsigned>::is_always_lock_free);

// Used only by the watch.
pid_t watched_parent = 0;
unsigned last_progress = 0;
std::time_t last_seconds = 0;

std::time_t computed_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec;
}

// Called every second. PR_SET_PDEATHSIG is not sufficient for a dead parent, because it fires at
// the end of the thread that forked.
void watch(int) {
  if (getppid() != watched_parent) _exit(0);
  const unsigned seen = progress.load(std::memory_order_relaxed);
  if (seen != last_progress) {
    last_progress = seen;
    last_seconds = computed_seconds();
  } else if (computed_seconds() - last_seconds > kPatienceSeconds) {
    _exit(kHungExitCode);
  }
}

void start_watch(pid_t parent) {
  watched_parent = parent;
  last_seconds = computed_seconds();
  struct sigaction action {};
  action.sa_handler = watch;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval every_second{{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &every_second, nullptr);
}

// The parent reports signals that kill this process, so it writes no message and no core file.
void set_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = STDERR_FILENO + 1;
  for (const int descriptor : kept) {
    const auto next = static_cast<unsigned>(descriptor);
    if (next > first) close_range(first, next - 1, 0);
    first = std::max(first, next + 1);
  }
  close_range(first, ~0u, 0);
}

// Keeps output in sanitizer builds, for their reports.
void print_nowhere() {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  if (!kIsSanitized) dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

rlim_t memory_in_use() {
  unsigned long long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// Damaged files declare absurd sizes. Not used with sanitizers, which reserve terabytes.
void limit_memory() {
  if (kIsSanitized) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, memory_in_use() + kMostMemory);
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

void confine_child(pid_t parent, std::vector<int> descriptors) {
  set_signals();
  start_watch(parent);
  close_all_but(std::move(descriptors));
  print_nowhere();
  limit_memory();
}

bool LockWatch::is_stuck(pid_t child) {
  constexpr std::chrono::seconds kPatience{1};
  std::ifstream call(fmt::format("/proc/{}/syscall", child));
  long number = -1;
  if (!(call >> number) || number != SYS_futex) {
    since_.reset();
    return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!since_) since_ = now;
  return now - *since_ >= kPatience;
}

void note_progress() { progress.fetch_add(1, std::memory_order_relaxed); }

}  // namespace opbench
