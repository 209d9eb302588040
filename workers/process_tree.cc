#include "workers/process_tree.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

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

// Those that this program had before its first child, too: a shell that became it may have some.
std::set<pid_t>& known_children() {
  static std::set<pid_t> known = [] {
    const std::vector<pid_t> before = children_now();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return std::set<pid_t>(before.begin(), before.end());
  }();
  return known;
}

// What libraries fork is in the group of this program.
std::vector<pid_t> strays_now() {
  std::vector<pid_t> strays = children_now();
  std::erase_if(strays, [](pid_t pid) {
    return known_children().contains(pid) || getpgid(pid) == getpgrp();
  });
  return strays;
}

}  // namespace

pid_t start_child(const std::function<pid_t()>& fork) {
  const std::lock_guard lock(mutex);
  std::set<pid_t>& known = known_children();
  const pid_t pid = fork();
  if (pid > 0) known.insert(pid);
  return pid;
}

void forget_child(pid_t pid) {
  const std::lock_guard lock(mutex);
  known_children().erase(pid);
}

// Each that ends may leave further ones, and may start some before it ends.
void end_strays() {
  constexpr int kMostTurns = 200;
  const std::lock_guard lock(mutex);
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

}  // namespace opbench
