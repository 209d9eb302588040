#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "harness/check/history.h"
#include "tensor/error.h"

namespace opbench::check {
namespace {

constexpr auto kLongestWait = std::chrono::seconds(10);

// Whoever holds it appends a line, which takes no time; who holds it longer does something else.
bool lock(int file) {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

// A pipe without a reader would wait.
HistoryFile::HistoryFile(const std::string& path)
    : path_(path),
      file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (file_ < 0) fail(errno);
  struct stat status {};
  const int error = fstat(file_, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
  if (error == 0) return;
  close(file_);
  fail(error);
}

HistoryFile::~HistoryFile() { close(file_); }

void HistoryFile::fail(int error) const {
  const char* reason = error == EINVAL        ? "it is no regular file"
                       : error == EWOULDBLOCK ? "another process keeps it locked"
                                              : std::strerror(error);
  throw RunError(fmt::format("cannot write history '{}': {}", path_, reason));
}

void HistoryFile::append(const std::string& line) const {
  if (!lock(file_)) fail(errno);
  const off_t end = lseek(file_, 0, SEEK_END);
  char last = '\n';
  const bool is_known = end == 0 || (end > 0 && pread(file_, &last, 1, end - 1) == 1);
  const bool is_well = is_known && write_all(file_, last == '\n' ? line : "\n" + line);
  const int error = errno;
  if (!is_well && end >= 0 && ftruncate(file_, end) != 0) {
    // Its unfinished line is skipped by readers.
  }
  flock(file_, LOCK_UN);
  if (!is_well) fail(error);
}

}  // namespace opbench::check
