#include "text/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include "tensor/error.h"

namespace opbench {
namespace {

/// A file opened for reading.
class OpenFile {
 public:
  // Without O_NONBLOCK, opening would block on a pipe without a writer, and on some system files.
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

[[noreturn]] void fail_to_read(const std::string& path, const std::string& what,
                               const std::string& reason) {
  throw Error(fmt::format("cannot read {}{}'{}': {}", what, what.empty() ? "" : " ", path, reason));
}

[[noreturn]] void fail_by_size(const std::string& path, const std::string& what,
                               std::size_t most_bytes) {
  fail_to_read(path, what, fmt::format("it is larger than {} MiB", most_bytes >> 20));
}

}  // namespace

/// An open file, and its description for messages.
struct InputFile::Source {
  Source(const std::string& name, const std::string& kind, std::size_t most)
      : path(name), what(kind), most_bytes(most), file(name) {
    struct stat status {};
    if (file.number() < 0 || fstat(file.number(), &status) != 0) {
      fail_to_read(path, what, std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) fail_to_read(path, what, "it is not a regular file");
    if (static_cast<std::size_t>(status.st_size) > most) fail_by_size(path, what, most);
  }

  // Reads at most as many bytes as fit; 0 at the end. The size does not determine the end, because
  // system files report 0.
  std::size_t read(std::span<char> buffer) {
    ssize_t got = 0;
    do {
      got = ::read(file.number(), buffer.data(), buffer.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail_to_read(path, what, std::strerror(errno));
    bytes += static_cast<std::size_t>(got);
    if (bytes > most_bytes) fail_by_size(path, what, most_bytes);
    return static_cast<std::size_t>(got);
  }

  std::string path, what;
  std::size_t most_bytes, bytes = 0;
  OpenFile file;
  std::array<char, 1 << 16> block;
};

InputFile::InputFile(const std::string& path, const std::string& what, std::size_t most_bytes)
    : source_(std::make_unique<Source>(path, what, most_bytes)) {}

InputFile::~InputFile() = default;

InputFile::int_type InputFile::underflow() {
  const std::size_t got = source_->read(source_->block);
  if (got == 0) return traits_type::eof();
  setg(source_->block.data(), source_->block.data(), source_->block.data() + got);
  return traits_type::to_int_type(*gptr());
}

std::string read_input_file(const std::string& path, const std::string& what,
                            std::size_t most_bytes) {
  InputFile file(path, what, most_bytes);
  std::string text;
  while (file.sgetc() != std::streambuf::traits_type::eof()) {
    const std::size_t before = text.size();
    text.resize(before + static_cast<std::size_t>(file.in_avail()));
    file.sgetn(text.data() + before, static_cast<std::streamsize>(text.size() - before));
  }
  return text;
}

bool has_same_bytes(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error_a, error_b;
  const bool is_same_size = fs::file_size(a, error_a) == fs::file_size(b, error_b);
  if (!is_same_size || error_a || error_b) return false;
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return first && second && std::equal(Bytes(first), Bytes(), Bytes(second), Bytes());
}

}  // namespace opbench
