#include "harness/units/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "tensor/error.h"

namespace opbench::units {
namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// 0, or why not. A file system without locks has none to respect.
int lock(int file) {
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return 0;
  return errno == EWOULDBLOCK ? EWOULDBLOCK : 0;
}

}  // namespace

// A pipe without a reader would wait.
PartFile::PartFile(const std::string& path, const PartHeader& header)
    : path_(path),
      file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (file_ < 0) fail(errno);
  try {
    struct stat status {};
    if (fstat(file_, &status) != 0) fail(errno);
    if (!S_ISREG(status.st_mode)) fail(EINVAL);
    if (const int error = lock(file_); error != 0) fail(error);
    cut_torn_line();
    append(header_line(header));
  } catch (...) {
    close(file_);
    throw;
  }
}

PartFile::~PartFile() { close(file_); }

void PartFile::fail(int error) const {
  const char* reason = error == EINVAL        ? "it is no regular file"
                       : error == EWOULDBLOCK ? "another process is writing it"
                                              : std::strerror(error);
  throw RunError(fmt::format("cannot write '{}': {}", path_, reason));
}

// Everything behind the last end of a line.
void PartFile::cut_torn_line() const {
  const off_t size = lseek(file_, 0, SEEK_END);
  if (size < 0) fail(errno);
  char buffer[4096];
  off_t end = size;
  while (end > 0) {
    const auto count = static_cast<std::size_t>(std::min<off_t>(end, sizeof buffer));
    const off_t start = end - static_cast<off_t>(count);
    if (pread(file_, buffer, count, start) != static_cast<ssize_t>(count)) fail(errno);
    const auto newline = std::string_view(buffer, count).rfind('\n');
    if (newline != std::string_view::npos) {
      end = start + static_cast<off_t>(newline) + 1;
      break;
    }
    end = start;
  }
  if (end != size && ftruncate(file_, end) != 0) fail(errno);
}

void PartFile::append(const std::string& line) {
  const off_t end = lseek(file_, 0, SEEK_END);
  if (end < 0) fail(errno);
  if (write_all(file_, line)) return;
  const int error = errno;
  if (ftruncate(file_, end) != 0) {
    // Its unfinished line is no result for a reader.
  }
  fail(error);
}

}  // namespace opbench::units
