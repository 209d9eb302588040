#include "tests/support/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <thread>

#include "cli/cli.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string text = *line;
    if (!more.contains(text.substr(0, text.find('=')))) lines.push_back(text);
  }
  for (const auto& [name, value] : more) lines.push_back(name + "=" + value);
  return lines;
}

/// Stored runs of tests must not replace the user's stored runs.
struct CacheOfTests {
  CacheOfTests() { setenv("XDG_CACHE_HOME", directory.directory().c_str(), 1); }
  TempDir directory;
};
const CacheOfTests cache_of_tests;

/// Blocks signals, so that a handler of this process does not take them in a child before exec.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  /// In the child: unblocked signals end it, like a program that has just started.
  void release_in_child() const {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
};

// Redirects a stream of a child to a file.
bool redirect(const char* file, int flags, int stream) {
  const int opened = open(file, flags, 0600);
  return opened >= 0 && dup2(opened, stream) >= 0;
}

}  // namespace

// No allocations between fork and exec, because another thread may hold the allocator's lock.
Process::Process(std::vector<std::string> words, const ProcessOptions& options) {
  std::vector<std::string> lines = environment_with(options.environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(lines);
  const std::string out = output_.path("out"), err = output_.path("err");
  const std::string directory = options.directory.empty() ? "." : options.directory.string();
  const HeldSignals held;
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ > 0) return;
  held.release_in_child();
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  alarm(options.limit_s);  // stays active after exec
  const bool is_ready = redirect("/dev/null", O_RDONLY, STDIN_FILENO) &&
                        redirect(out.c_str(), kWrite, STDOUT_FILENO) &&
                        redirect(err.c_str(), kWrite, STDERR_FILENO) &&
                        chdir(directory.c_str()) == 0;
  if (is_ready) execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

Process::~Process() {
  if (pid_ <= 0) return;
  send(SIGKILL);
  wait();
}

bool Process::has_written(const char* stream, const std::string& text) const {
  while (output_.read(stream).find(text) == std::string::npos) {
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == pid_) return output_.read(stream).find(text) != std::string::npos;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool Process::has_printed(const std::string& text) const { return has_written("out", text); }

bool Process::has_told(const std::string& text) const { return has_written("err", text); }

void Process::send(int signal) const { kill(pid_, signal); }

Outcome Process::wait() {
  int status = 0;
  rusage usage{};
  wait4(pid_, &status, 0, &usage);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output_.read("out"),
          output_.read("err"), static_cast<std::size_t>(usage.ru_maxrss) * 1024};
}

Outcome opbench_with(std::vector<std::string> args) {
  std::ostringstream out, err;
  const int code = run_cli(std::move(args), out, err);
  return {code, out.str(), err.str()};
}

Outcome run_program(std::vector<std::string> args, const ProcessOptions& options) {
  args.insert(args.begin(), program());
  return Process(std::move(args), options).wait();
}

Outcome shell(const std::string& command, const ProcessOptions& options) {
  return Process({"/bin/sh", "-c", command}, options).wait();
}

bool has_command(const std::string& name) { return shell("command -v '" + name + "'").code == 0; }

}  // namespace opbench
