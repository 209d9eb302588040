#include "profiles/line_reader.h"

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

void SkippedLines::add(std::int64_t line, const std::string& reason) {
  constexpr std::size_t kExamples = 5;
  ++count_;
  if (examples_.size() < kExamples) {
    examples_.push_back(fmt::format("{}:{}: {}", file_, line, reason));
  }
}

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& path, const char* reason) {
  throw Error(fmt::format("cannot read '{}': {}", path, reason));
}

// O_NONBLOCK prevents waiting for the writer of a pipe.
gzFile open_regular(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) refuse(path, std::strerror(errno));
  struct stat status {};
  const bool is_regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  gzFile stream = is_regular ? gzdopen(file, "rb") : nullptr;
  if (stream == nullptr) {
    close(file);
    refuse(path, is_regular ? "out of memory" : "it is not a regular file");
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
  if (size_ - kept < kPiece) {  // doubling bounds how often a long record is moved
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

// Skips a line that is longer than the limit. The window contains its beginning.
void LineReader::skip_rest() {
  skip(fmt::format("a line longer than {} MiB", kLongestLine >> 20));
  do {
    const auto text = window_.text();
    const void* end = std::memchr(text.data(), '\n', text.size());
    if (end != nullptr) {
      window_.consume(static_cast<const char*>(end) - text.data() + 1);
      return;
    }
    window_.consume(text.size());
  } while (window_.more());
}

bool LineReader::next() {
  window_.consume(consumed_);
  consumed_ = looked_at_ = 0;
  ++line_;
  while (true) {
    const std::string_view all(window_.text().data(), window_.text().size());
    const std::size_t end = all.find('\n', looked_at_);
    if (end != std::string_view::npos || window_.is_at_end()) {
      if (all.empty()) return false;
      text_ = all.substr(0, end);
      consumed_ = std::min(text_.size() + 1, all.size());
      if (text_.ends_with('\r')) text_.remove_suffix(1);
      return true;
    }
    looked_at_ = all.size();
    if (looked_at_ <= kLongestLine) {
      window_.more();
      continue;
    }
    skip_rest();
    looked_at_ = 0;
    ++line_;
  }
}

}  // namespace opbench
