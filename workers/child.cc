#include "workers/child.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

std::mutex mutex;

std::vector<pid_t> children_now() {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/self/task", error)) {
    std::ifstream in(task.path() / "children");
    for (pid_t pid = 0; in >> pid;) children.push_back(pid);
  }
  return children;
}

// Children that exist at the first call, for example those of a shell that became this program by
// exec. From then on, processes below this program that lose their parent become its children.
// Never destroyed, because objects of static lifetime end their children.
std::set<pid_t>& known_children() {
  static std::set<pid_t>* const known = [] {
    const std::vector<pid_t> before = children_now();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return new std::set<pid_t>(before.begin(), before.end());
  }();
  return *known;
}

// Processes that ended children left behind. Children in the process group of this program belong
// to the program or to libraries.
std::vector<pid_t> strays_now() {
  std::vector<pid_t> strays = children_now();
  std::erase_if(strays, [](pid_t pid) {
    return known_children().contains(pid) || getpgid(pid) == getpgrp();
  });
  return strays;
}

// Repeats, because ending a process may leave others, and processes may start others before they
// end.
void end_strays() {
  constexpr int kMostTurns = 200;  // 2 s at 10 ms each
  for (int turn = 0; turn < kMostTurns; ++turn) {
    const std::vector<pid_t> strays = strays_now();
    if (strays.empty()) return;
    for (const pid_t pid : strays) {
      kill(pid, SIGKILL);
      int status = 0;
      waitpid(pid, &status, WNOHANG);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(turn == 0 ? 1 : 10));
  }
}

// Ends the child on an exception, which must not unwind into the parent's stack frames.
[[noreturn]] void become(Child::Group group, const std::function<void()>& work) noexcept {
  if (group == Child::Group::own) setpgid(0, 0);
  work();
  _exit(0);
}

}  // namespace

Child::Child(Group group, const std::string& purpose, const std::function<void()>& work)
    : group_(group) {
  std::unique_lock lock(mutex, std::defer_lock);
  if (group_ == Group::own) {
    lock.lock();
    known_children();
  }
  id_ = fork();
  if (id_ == 0) become(group_, work);
  if (id_ < 0) throw RunError(fmt::format("cannot {}: {}", purpose, std::strerror(errno)));
  if (group_ == Group::ours) return;
  known_children().insert(id_);
  setpgid(id_, id_);
}

bool Child::ends_within(double seconds) const {
  if (!is_held()) return true;
  for (double left = seconds;; left -= 0.01) {
    siginfo_t info{};
    const bool has_ended =
        waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == id_;
    if (has_ended || left <= 0) return has_ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int Child::end() {
  if (!is_held()) return 0;
  const bool is_own = group_ == Group::own;
  kill(is_own ? -id_ : id_, SIGKILL);
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_own) {
    const std::lock_guard lock(mutex);
    known_children().erase(id_);
    end_strays();
  }
  id_ = -1;
  return status;
}

}  // namespace opbench
