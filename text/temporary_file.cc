#include "text/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "tensor/error.h"

namespace opbench::stale_files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = ".opbench-", kEnd = ".part";

bool is_first_look(const fs::path& directory) {
  static std::mutex mutex;
  static std::set<fs::path> seen;
  const std::lock_guard guard(mutex);
  return seen.insert(directory).second;
}

// The lock shows if the process is dead. Process numbers are reused, and numbers of another
// container or machine have no meaning here.
void remove_if_stale(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  if (lock(descriptor) == 0) unlink(path.c_str());
  close(descriptor);
}

}  // namespace

std::string new_name(int number) {
  return fmt::format("{}{}-{}{}", kBegin, getpid(), number, kEnd);
}

int lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

void remove_beside(const fs::path& file) {
  const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!is_first_look(directory)) return;
  std::error_code error;  // unreadable directories are ignored
  for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with(kBegin) && name.ends_with(kEnd)) remove_if_stale(at->path());
  }
}

}  // namespace opbench::stale_files

namespace opbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const fs::path& target, std::string_view reason) {
  throw RunError(fmt::format("cannot write {}: {}", target.string(), reason));
}

[[noreturn]] void fail_to_write(const fs::path& target, int error) {
  fail_to_write(target, std::generic_category().message(error));
}

// Returns the mode of the file that will be replaced, if it exists. A rename ignores write
// permissions of the old file, and would replace a device or a pipe by a regular file.
std::optional<mode_t> mode_of_replaced(const fs::path& target) {
  struct stat found {};
  if (stat(target.c_str(), &found) != 0) {
    if (errno != ENOENT) fail_to_write(target, errno);
    return std::nullopt;
  }
  if (S_ISDIR(found.st_mode)) fail_to_write(target, EISDIR);
  if (!S_ISREG(found.st_mode)) fail_to_write(target, "not a regular file");
  if ((found.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
    fail_to_write(target, "it is read-only");
  }
  if (access(target.c_str(), W_OK) != 0) fail_to_write(target, errno);
  return found.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
}

// Returns false if another process removed it as stale before it was locked. On a file system
// without locks no process removes stale files.
bool lock(int descriptor) {
  if (stale_files::lock(descriptor) == EAGAIN) return false;
  struct stat found {};
  return fstat(descriptor, &found) == 0 && found.st_nlink > 0;
}

struct Created {
  fs::path path;
  int descriptor;
};

// A short generated name, because a long target name might exceed the limit.
fs::path new_path(const fs::path& place) {
  static std::atomic<int> counter = 0;
  return place.parent_path() / stale_files::new_name(++counter);
}

constexpr int kMostAttempts = 1000;

Created create_beside(const fs::path& place, mode_t mode) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    fs::path path = new_path(place);
    const int descriptor =
        open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor < 0 && errno != EEXIST) break;
    if (descriptor < 0) continue;
    if (lock(descriptor)) return {std::move(path), descriptor};
    close(descriptor);
  }
  return {{}, -1};
}

// Path for naming an unnamed file (open(2), O_TMPFILE).
std::string open_file_link(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Returns -1 if the file system has no unnamed files, or cannot name them later.
int create_unnamed(const fs::path& place, mode_t mode) {
  static const bool is_proc_there = access(open_file_link(STDIN_FILENO).c_str(), F_OK) == 0;
  if (!is_proc_there) return -1;
  const fs::path directory = place.has_parent_path() ? place.parent_path() : fs::path(".");
  return open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

// Returns 0, or the error.
int link_as(int descriptor, const fs::path& path) {
  const std::string link = open_file_link(descriptor);
  return linkat(AT_FDCWD, link.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

// Returns 0, or the error.
int write_all_at(int descriptor, std::uint64_t offset, const void* bytes, std::size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = pwrite(descriptor, from, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? EIO : errno;
    from += written;
    offset += static_cast<std::uint64_t>(written);
    count -= static_cast<std::size_t>(written);
  }
  return 0;
}

}  // namespace

fs::path behind_links(const fs::path& given) {
  constexpr int kMostLinks = 40;  // Linux's limit
  std::error_code error;
  fs::path path = fs::canonical(given, error);
  if (!error) return path;
  path = given;  // its last link may point to a missing file
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

TemporaryFile::TemporaryFile(const fs::path& target) : target_(target) {
  const std::optional<mode_t> mode = mode_of_replaced(target);
  if (!target.has_filename()) fail_to_write(target, "the path names no file");
  place_ = behind_links(target);
  stale_files::remove_beside(place_);
  const mode_t first_mode = mode ? S_IRUSR | S_IWUSR : 0666;
  descriptor_ = create_unnamed(place_, first_mode);
  if (descriptor_ < 0) {
    Created created = create_beside(place_, first_mode);
    if (created.descriptor < 0) fail_to_write(target, errno);
    path_ = std::move(created.path);
    descriptor_ = created.descriptor;
  }
  if (mode) fchmod(descriptor_, *mode);  // some file systems have no modes
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
  if (descriptor_ >= 0) close(descriptor_);
}

void TemporaryFile::write(const void* bytes, std::size_t count) {
  write_at(size_, bytes, count);
  size_ += count;
}

void TemporaryFile::write_at(std::uint64_t offset, const void* bytes, std::size_t count) {
  if (error_ == 0) error_ = write_all_at(descriptor_, offset, bytes, count);
}

void TemporaryFile::resize(std::uint64_t bytes) {
  if (error_ == 0 && ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) error_ = errno;
}

bool TemporaryFile::read_at(std::uint64_t offset, void* bytes, std::size_t count) const {
  char* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  std::memset(to, 0, count);
  return true;
}

void TemporaryFile::check(std::string_view doing) const {
  if (error_ == 0) return;
  const std::string reason = std::generic_category().message(error_);
  fail_to_write(target_, doing.empty() ? reason : fmt::format("{}: {}", doing, reason));
}

// A network file system reports failed writes at close. A duplicate is closed, because the lock
// must be held until the file has its name.
void TemporaryFile::commit() {
  const int copy = dup(descriptor_);
  if (copy >= 0 && close(copy) != 0 && error_ == 0) error_ = errno;
  check();
  take_place();
  close(std::exchange(descriptor_, -1));
}

// An unnamed file gets the target's name directly if it is free. Otherwise it gets a temporary name
// first, because a link cannot replace a file.
void TemporaryFile::take_place() {
  if (path_.empty()) {
    int error = link_as(descriptor_, place_);
    if (error == 0) return;
    stale_files::lock(descriptor_);
    for (int attempt = 0; error == EEXIST && attempt < kMostAttempts; ++attempt) {
      fs::path path = new_path(place_);
      error = link_as(descriptor_, path);
      if (error == 0) path_ = std::move(path);
    }
    if (error != 0) fail_to_write(target_, error);
  }
  std::error_code error;
  fs::rename(path_, place_, error);
  if (error) fail_to_write(target_, error.message());
  path_.clear();
}

}  // namespace opbench
