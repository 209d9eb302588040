#include "text/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "tensor/error.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& target, const std::string& reason) {
  throw RunError(fmt::format("cannot write {}: {}", target.string(), reason));
}

// A rename would put a regular file in the place of a device or a pipe, so those are refused.
void check_target(const fs::path& target) {
  std::error_code error;
  const fs::file_type type = fs::status(target, error).type();
  if (type == fs::file_type::directory) fail(target, "Is a directory");
  if (type == fs::file_type::none) fail(target, error.message());
  if (type != fs::file_type::not_found && type != fs::file_type::regular) {
    fail(target, "not a regular file");
  }
  if (!target.has_filename()) fail(target, "the path names no file");
}

// A link stays a link: what it points to is replaced.
fs::path follow_link(const fs::path& target) {
  std::error_code error;
  const fs::path real = fs::canonical(target, error);
  return error ? target : real;
}

// A name of its own, so that a long target name does not become too long. Numbers are counted up
// past files that a killed process of the same id left behind.
fs::path create_beside(const fs::path& target) {
  static std::atomic<int> counter = 0;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    fs::path path = target.parent_path() / fmt::format(".opbench-{}-{}.part", getpid(), ++counter);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      close(descriptor);
      return path;
    }
    if (errno != EEXIST) break;
  }
  fail(target, std::generic_category().message(errno));
}

}  // namespace

TemporaryFile::TemporaryFile(const fs::path& target) {
  check_target(target);
  target_ = follow_link(target);
  path_ = create_beside(target_);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

void TemporaryFile::commit() {
  std::error_code error;
  fs::rename(path_, target_, error);
  if (error) fail(target_, error.message());
  path_.clear();
}

}  // namespace opbench
