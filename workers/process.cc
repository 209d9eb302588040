#include "workers/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "tensor/utf8.h"
#include "text/fitted.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptErrors = 4096, kShownText = 80;  // bytes

/// Both ends of a pipe, owned until released; closed on exec.
struct Pipe {
  int ends[2] = {-1, -1};

  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw RunError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
  }
  Pipe(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  int give(int end) { return std::exchange(ends[end], -1); }
};

/// Uses only async-signal-safe functions, because it runs between fork and exec.
[[noreturn]] void become(char* const* argv, const char* directory, pid_t parent,
                         const int (&files)[3], int shared, int failure) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) {
    signal(number, SIG_DFL);
  }
  for (int i = 0; i < 3; ++i) {
    if (dup2(files[i], i) < 0) _exit(127);
  }
  if (shared >= 0) {
    failure = fcntl(failure, F_DUPFD_CLOEXEC, 4);  // it may be descriptor 3
    if (failure < 0 || dup2(shared, 3) < 0) _exit(127);
    // It stays open in the program also if it was descriptor 3 before.
    if (shared == 3 && fcntl(3, F_SETFD, 0) < 0) _exit(127);
  }
  if (*directory == '\0' || chdir(directory) == 0) execvp(argv[0], argv);
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = write(failure, &reason, sizeof reason);
  _exit(127);
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

std::string ending_text(int status, const std::string& when, const std::string& errors) {
  const std::string said = last_line(errors);
  return fmt::format("{}{}{}{}",
                     WIFEXITED(status) ? fmt::format("ended with exit code {}", WEXITSTATUS(status))
                                       : fmt::format("was ended by signal {} ({})",
                                                     WTERMSIG(status), strsignal(WTERMSIG(status))),
                     when, said.empty() ? "" : "; last on standard error: ", printable(said));
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> args, const std::string& directory, int shared)
    : program_(args.at(0)) {
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  Pipe input, output, errors, failure;
  const pid_t parent = getpid();
  child_.emplace(Child::Group::own, "start a process", [&] {
    become(argv.data(), directory.c_str(), parent, {input.ends[0], output.ends[1], errors.ends[1]},
           shared, failure.ends[1]);
  });
  close(failure.give(1));
  int reason = 0;
  if (read(failure.ends[0], &reason, sizeof reason) == sizeof reason) {
    throw Error(fmt::format("cannot start '{}'{}{}: {}", program_, directory.empty() ? "" : " in ",
                            directory, std::strerror(reason)));
  }
  input_ = input.give(1);
  output_ = output.give(0);
  errors_ = errors.give(0);
  for (const int file : {input_, output_, errors_}) fcntl(file, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  child_.reset();
  close_all();
}

void ChildProcess::close_all() {
  for (int* file : {&input_, &output_, &errors_}) {
    if (*file >= 0) close(*file);
    *file = -1;
  }
}

int ChildProcess::end() {
  const int status = child_->end();
  child_.reset();
  close_all();
  return status;
}

// Reads at most the capacity of a pipe, so that a child that never stops writing does not block.
void ChildProcess::take_errors() {
  char buffer[4096];
  for (int i = 0; i < 16; ++i) {
    const ssize_t got = read(errors_, buffer, sizeof buffer);
    if (got <= 0) break;
    last_errors_.append(buffer, static_cast<std::size_t>(got));
  }
  if (last_errors_.size() > kKeptErrors) last_errors_.erase(0, last_errors_.size() - kKeptErrors);
}

void ChildProcess::fail_ended() {
  // It closed its pipes. It is killed if it does not end by itself.
  child_->ends_within(1);
  take_errors();
  const int status = end();
  const std::string how = ending_text(status, "", last_errors_);
  throw ChildLost(fmt::format("'{}' {}", program_, how), how);
}

double Patience::left() {
  constexpr double kLongestPause = 1;  // longest pause of a running program on a busy machine
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> passed = now - last_;
  spent_ += std::min(passed.count(), kLongestPause);
  last_ = now;
  return seconds_ - spent_;
}

void ChildProcess::wait_for(int file, short events, Patience& patience) {
  while (true) {
    if (interrupted()) throw RunError("interrupted");
    const double left = patience.left();
    if (left <= 0) {
      end();
      throw ChildLost(fmt::format("'{}' gave no answer within {:.3g} s and was ended", program_,
                                  patience.seconds()),
                      {}, true);
    }
    pollfd polled[2] = {{file, events, 0}, {errors_, POLLIN, 0}};
    const nfds_t count = errors_ >= 0 ? 2 : 1;
    // Its children may hold the pipes after its end.
    const bool is_gone = child_->has_ended();
    // Short enough to detect an interrupt just before the wait.
    const double wait_ms = is_gone ? 0 : std::ceil(std::min(1e3 * left, 200.0));
    if (poll(polled, count, static_cast<int>(wait_ms)) <= 0) {
      if (is_gone) fail_ended();
      continue;
    }
    if (count == 2 && polled[1].revents != 0) {
      take_errors();
      if ((polled[1].revents & POLLIN) == 0) {  // closed: poll would return at once forever
        close(errors_);
        errors_ = -1;
      }
    }
    if (polled[0].revents != 0) return;
  }
}

void ChildProcess::write_line(const std::string& line, double seconds) {
  if (!child_) throw ChildLost(fmt::format("'{}' is gone", program_));
  Patience patience(seconds);
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = write(input_, text.data() + done, text.size() - done);
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN) {
      wait_for(input_, POLLOUT, patience);
    } else if (errno != EINTR) {
      fail_ended();
    }
  }
}

// Returns false at the end of the output.
bool ChildProcess::take_output() {
  char buffer[4096];
  const ssize_t got = read(output_, buffer, sizeof buffer);
  if (got > 0) pending_.append(buffer, static_cast<std::size_t>(got));
  return got != 0;
}

std::string ChildProcess::read_line(Patience& patience, std::size_t most_bytes) {
  if (!child_) throw ChildLost(fmt::format("'{}' is gone", program_));
  std::size_t searched = 0;
  while (true) {
    const auto newline = pending_.find('\n', searched);
    if (newline != std::string::npos) {
      const std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return line;
    }
    searched = pending_.size();
    if (pending_.size() > most_bytes) {
      end();
      throw ChildLost(fmt::format("'{}' wrote a line longer than {} MiB and was ended", program_,
                                  most_bytes >> 20));
    }
    wait_for(output_, POLLIN, patience);
    if (!take_output()) fail_ended();
  }
}

void ChildProcess::refuse_unasked() {
  if (!child_) return;  // the next call reports it
  if (pending_.empty()) take_output();
  if (pending_.empty()) return;
  end();
  throw ChildLost(
      fmt::format("'{}' wrote '{}' after its answer and was ended; it may write one "
                  "line for each request",
                  program_, printable(excerpt(last_line(pending_), kShownText))));
}

std::string ChildProcess::finish(double seconds) {
  if (!child_) return {};
  close(std::exchange(input_, -1));
  Patience patience(seconds);
  while (!child_->has_ended()) {
    if (interrupted()) return {};
    if (patience.left() <= 0) {
      end();
      return fmt::format("'{}' did not end within {:.3g} s after its last answer", program_,
                         seconds);
    }
    if (errors_ >= 0) take_errors();
    pollfd polled = {output_, POLLIN, 0};
    poll(&polled, 1, 5);
    // Closed, or more than is shown in a message: poll would return at once forever.
    if (pending_.size() > kShownText || !take_output()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  take_output();
  if (errors_ >= 0) take_errors();
  const int status = end();
  if (status == 0 && pending_.empty()) return {};
  if (status == 0) {
    return fmt::format("'{}' wrote '{}' after its last answer", program_,
                       printable(excerpt(last_line(pending_), kShownText)));
  }
  return fmt::format("'{}' {}", program_,
                     ending_text(status, " after its last answer", last_errors_));
}

}  // namespace opbench
