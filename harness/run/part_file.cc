#include "harness/run/part_file.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace opbench::units {

// A file system without locks has none to respect.
PartFile::PartFile(const std::string& path, const PartHeader& header)
    : path_(path), file_(path, {fmt::format("'{}'", path), "another process is writing it"}) {
  if (flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) file_.fail(errno);
  cut_torn_line();
  append(header_line(header));
}

// Everything behind the last end of a line.
void PartFile::cut_torn_line() const {
  const int file = file_.descriptor();
  const off_t size = file_.size();
  char buffer[4096];
  off_t end = size;
  while (end > 0) {
    const auto count = static_cast<std::size_t>(std::min<off_t>(end, sizeof buffer));
    const off_t start = end - static_cast<off_t>(count);
    if (pread(file, buffer, count, start) != static_cast<ssize_t>(count)) file_.fail(errno);
    const auto newline = std::string_view(buffer, count).rfind('\n');
    if (newline != std::string_view::npos) {
      end = start + static_cast<off_t>(newline) + 1;
      break;
    }
    end = start;
  }
  if (end != size && ftruncate(file, end) != 0) file_.fail(errno);
}

}  // namespace opbench::units
