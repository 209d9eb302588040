#include "text/stale_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>

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

// Not a process number but the lock tells that its process is dead: numbers are given again, and
// those of another container or machine mean nothing here.
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
  std::error_code error;  // what cannot be looked at stays
  for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with(kBegin) && name.ends_with(kEnd)) remove_if_stale(at->path());
  }
}

}  // namespace opbench::stale_files
