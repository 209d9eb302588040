#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace opbench {

/// Fills the beginning of `room` with the next bytes and says how many; 0 at the end.
using ByteSource = std::function<std::size_t(std::span<char> room)>;

/// The bytes of a regular file, unpacked where it is gzip. Errors: throws Error "cannot read ...:
/// reason"; the source throws RunError where it can be read no further.
ByteSource open_bytes(const std::string& path);

/// The bytes of a text, which must outlive the source.
ByteSource bytes_of(std::string_view text);

/// A piece of a stream that is looked at: memory is bounded by the largest piece ever wanted, and
/// not by the file.
class ByteWindow {
 public:
  /// So many bytes behind `text` may be read, though they mean nothing: parsers look at blocks.
  static constexpr std::size_t kSlack = 64;

  explicit ByteWindow(ByteSource source) : source_(std::move(source)) {}

  /// What is read and not consumed; valid until `more`.
  std::span<char> text() { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Drops the first bytes of `text`.
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Reads on behind `text`. Returns false at the end of the stream.
  bool more();
  bool is_at_end() const { return is_at_end_; }

 private:
  ByteSource source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t size_ = 0, begin_ = 0, end_ = 0;
  bool is_at_end_ = false;
};

}  // namespace opbench
