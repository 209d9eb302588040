#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "harness/check/history.h"

namespace opbench::check {
namespace {

constexpr auto kLongestWait = std::chrono::seconds(10);

/// Whoever holds it appends a line, which takes no time; who holds it longer does something else.
class Lock {
 public:
  explicit Lock(const LineFile& file) : file_(file.descriptor()) {
    const auto end = std::chrono::steady_clock::now() + kLongestWait;
    while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) file.fail(errno);
      if (std::chrono::steady_clock::now() > end) file.fail(errno);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~Lock() { flock(file_, LOCK_UN); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

}  // namespace

HistoryFile::HistoryFile(const std::string& path)
    : file_(path, {fmt::format("history '{}'", path), "another process keeps it locked"}) {}

void HistoryFile::append(const std::string& line) const {
  const Lock lock(file_);
  const std::int64_t size = file_.size();
  char last = '\n';
  if (size > 0 && pread(file_.descriptor(), &last, 1, size - 1) != 1) file_.fail(errno);
  file_.append(last == '\n' ? line : "\n" + line);
}

}  // namespace opbench::check
