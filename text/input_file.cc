#include "text/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace opbench {
namespace {

/// A file that is open for reading.
class OpenFile {
 public:
  // Without O_NONBLOCK a pipe without a writer is waited for; files of the system's own may wait
  // for their contents.
  explicit OpenFile(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

// Reads up to `most_bytes` and one more. Returns false, with errno, if that fails.
bool read_all(int file, std::size_t most_bytes, std::string& text) {
  char buffer[4096];
  while (text.size() <= most_bytes) {
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got == 0) return true;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) return false;
  }
  return true;
}

}  // namespace

std::string read_input_file(const std::string& path, const std::string& what,
                            std::size_t most_bytes) {
  const auto fail = [&](const std::string& reason) {
    throw Error(
        fmt::format("cannot read {}{}'{}': {}", what, what.empty() ? "" : " ", path, reason));
  };
  const OpenFile file(path);
  struct stat status {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("it is no regular file");
  std::string text;
  // The size alone does not tell: files of the system's own say 0.
  const bool is_small = static_cast<std::size_t>(status.st_size) <= most_bytes;
  if (is_small && !read_all(file.number(), most_bytes, text)) fail(std::strerror(errno));
  if (!is_small || text.size() > most_bytes) {
    fail(fmt::format("it is larger than {} MiB", most_bytes >> 20));
  }
  return text;
}

}  // namespace opbench
