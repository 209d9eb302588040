#include "dump/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// Only regular files are opened, because opening a pipe would wait forever.
int open_regular(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  const auto fail = [&](const std::string& reason) {
    throw Error(fmt::format("cannot open {}: {}", path.string(), reason));
  };
  if (type == fs::file_type::not_found) fail("No such file or directory");
  if (type == fs::file_type::none) fail(error.message());
  if (type == fs::file_type::directory) fail("Is a directory");
  if (type != fs::file_type::regular) fail("not a regular file");
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(std::generic_category().message(errno));
  return descriptor;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

RegularFile::RegularFile(const fs::path& path)
    : name_(path.string()), descriptor_(open_regular(path)) {
  fstat(descriptor_, &state_);
}

RegularFile::~RegularFile() { close(descriptor_); }

void RegularFile::read(std::int64_t offset, std::size_t count, void* to) const {
  auto* bytes = static_cast<std::byte*>(to);
  while (count > 0) {
    const ssize_t got = pread(descriptor_, bytes, count, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw RunError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    }
    if (got == 0) throw RunError(fmt::format("{} was truncated while it was read", name_));
    bytes += got;
    offset += got;
    count -= static_cast<std::size_t>(got);
  }
}

bool RegularFile::is_hole(std::int64_t offset, std::int64_t count) const {
  if (offset < 0 || count <= 0 || offset > state_.st_size - count) return false;
  const off_t data = lseek(descriptor_, offset, SEEK_DATA);
  return data < 0 ? errno == ENXIO : data >= offset + count;
}

void RegularFile::check_unchanged() const {
  struct stat now {};
  fstat(descriptor_, &now);
  if (is_same(state_, now)) return;
  throw RunError(fmt::format("{} was changed while it was read", name_));
}

}  // namespace opbench
