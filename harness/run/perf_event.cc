#include "harness/run/perf_event.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "harness/run/system_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

std::vector<int> threads_of_process() {
  std::vector<int> threads;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/self/task", error)) {
    threads.push_back(std::atoi(entry.path().filename().c_str()));
  }
  if (threads.empty()) threads.push_back(0);  // the calling thread
  return threads;
}

// Each thread needs a file for each event. The usual limit of 1024 is for programs with select().
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

perf_event_attr attributes_of(const PerfKind& kind) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = kind.type;
  attributes.config = kind.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

}  // namespace

PerfEvent PerfEvent::of_threads(const PerfKind& kind) {
  allow_many_files();
  PerfEvent event;
  for (const int thread : threads_of_process()) event.open(kind, thread, -1);
  if (event.sources_.empty() && event.error_ == 0) event.error_ = ESRCH;
  return event;
}

PerfEvent PerfEvent::of_cores(const PerfKind& kind, const std::vector<int>& cores) {
  PerfEvent event;
  for (const int core : cores) event.open(kind, -1, core);
  if (event.sources_.empty() && event.error_ == 0) event.error_ = ENODEV;
  return event;
}

PerfEvent::PerfEvent(PerfEvent&& other) noexcept
    : sources_(std::exchange(other.sources_, {})),
      error_(other.error_),
      counted_share_(other.counted_share_) {}

PerfEvent::~PerfEvent() {
  for (const Source& source : sources_) close(source.file);
}

void PerfEvent::open(const PerfKind& kind, int thread, int core) {
  if (error_ != 0) return;
  perf_event_attr attributes = attributes_of(kind);
  const bool is_of_thread = core < 0;
  attributes.inherit = is_of_thread ? 1 : 0;
  // Own code only: system calls that read counters do not count, and the default of
  // perf_event_paranoid allows it. An event of a core has no such choice.
  attributes.exclude_kernel = is_of_thread && !kind.is_of_kernel ? 1 : 0;
  attributes.exclude_hv = attributes.exclude_kernel;
  const long file =
      syscall(SYS_perf_event_open, &attributes, thread, core, -1, PERF_FLAG_FD_CLOEXEC);
  if (file >= 0)
    sources_.push_back({static_cast<int>(file), {}});
  else if (errno != ESRCH)  // a thread may have ended meanwhile
    error_ = errno;
}

double PerfEvent::take() {
  double count = 0, enabled = 0, running = 0;
  for (Source& source : sources_) {
    Reading now;
    if (read(source.file, &now, sizeof now) != static_cast<ssize_t>(sizeof now)) continue;
    const auto added = static_cast<double>(now.count - source.last.count);
    const auto enabled_ns = static_cast<double>(now.enabled_ns - source.last.enabled_ns);
    const auto running_ns = static_cast<double>(now.running_ns - source.last.running_ns);
    source.last = now;
    if (running_ns > 0) count += added * std::max(1.0, enabled_ns / running_ns);
    enabled += enabled_ns;
    running += running_ns;
  }
  counted_share_ = enabled > 0 ? std::min(1.0, running / enabled) : 1;
  return count;
}

int perf_paranoid_level() {
  return value_in<int>("/proc/sys/kernel/perf_event_paranoid").value_or(0);
}

std::string perf_refusal(int error, int paranoid, int enough) {
  const std::string call = fmt::format("perf_event_open: {}", std::strerror(error));
  if (error == EACCES || error == EPERM) {
    if (paranoid > enough) {
      return fmt::format(
          "kernel.perf_event_paranoid is {} ({}): run as root, or `sysctl "
          "kernel.perf_event_paranoid={}`",
          paranoid, call, enough);
    }
    return fmt::format("the system forbids it ({}); containers often do", call);
  }
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) {
    return fmt::format(
        "this kernel gives no hardware counters ({}); virtual machines often hide them", call);
  }
  return call;
}

}  // namespace opbench
