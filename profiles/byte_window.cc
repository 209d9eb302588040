#include "profiles/byte_window.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& path, const char* reason) {
  throw Error(fmt::format("cannot read '{}': {}", path, reason));
}

// Without O_NONBLOCK a pipe without a writer is waited for.
gzFile open_regular(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) refuse(path, std::strerror(errno));
  struct stat status {};
  const bool is_regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  gzFile stream = is_regular ? gzdopen(file, "rb") : nullptr;
  if (stream == nullptr) {
    close(file);
    refuse(path, is_regular ? "out of memory" : "it is no regular file");
  }
  gzbuffer(stream, kPiece / 4);
  return stream;
}

}  // namespace

ByteSource open_bytes(const std::string& path) {
  const std::shared_ptr<gzFile_s> stream(open_regular(path), gzclose_r);
  return [stream, path](std::span<char> room) {
    const int got = gzread(stream.get(), room.data(),
                           static_cast<unsigned>(std::min<std::size_t>(room.size(), 1U << 30)));
    int status = Z_OK;
    const char* reason = gzerror(stream.get(), &status);
    if (got < 0) {
      throw RunError(fmt::format("cannot read '{}' to its end: {}", path,
                                 status == Z_ERRNO ? std::strerror(errno) : reason));
    }
    return static_cast<std::size_t>(got);
  };
}

ByteSource bytes_of(std::string_view text) {
  return [text](std::span<char> room) mutable {
    const std::size_t got = text.copy(room.data(), room.size());
    text.remove_prefix(got);
    return got;
  };
}

bool ByteWindow::more() {
  if (is_at_end_) return false;
  const std::size_t kept = end_ - begin_;
  if (size_ - kept < kPiece) {  // the room doubles, so that a long record is not moved too often
    size_ = std::max(2 * kept, kept + 2 * kPiece);
    auto larger = std::make_unique_for_overwrite<char[]>(size_ + kSlack);
    if (kept > 0) std::memcpy(larger.get(), buffer_.get() + begin_, kept);
    buffer_ = std::move(larger);
  } else if (kept > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
  }
  begin_ = 0;
  end_ = kept;
  const std::size_t got = source_({buffer_.get() + end_, size_ - end_});
  end_ += got;
  is_at_end_ = got == 0;
  return got > 0;
}

}  // namespace opbench
