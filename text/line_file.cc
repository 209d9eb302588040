#include "text/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tensor/error.h"

namespace opbench {
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

}  // namespace

// A pipe without a reader would wait.
LineFile::LineFile(const std::string& path, Words words)
    : words_(std::move(words)),
      file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (file_ < 0) fail(errno);
  struct stat status {};
  const int error = fstat(file_, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
  if (error == 0) return;
  close(file_);
  fail(error);
}

LineFile::~LineFile() { close(file_); }

std::int64_t LineFile::size() const {
  const off_t end = lseek(file_, 0, SEEK_END);
  if (end < 0) fail(errno);
  return end;
}

void LineFile::append(std::string_view text) const {
  const off_t end = size();
  if (write_all(file_, text)) return;
  const int error = errno;
  if (ftruncate(file_, end) != 0) {
    // Readers skip an unfinished line.
  }
  fail(error);
}

void LineFile::fail(int error) const {
  const char* reason = error == EINVAL        ? "it is no regular file"
                       : error == EWOULDBLOCK ? words_.locked.c_str()
                                              : std::strerror(error);
  throw RunError(fmt::format("cannot write {}: {}", words_.name, reason));
}

}  // namespace opbench
