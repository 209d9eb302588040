#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Skipped lines of a file: the number of all, and the first few as examples.
class SkippedLines {
 public:
  explicit SkippedLines(std::string file) : file_(std::move(file)) {}

  /// Counts a skipped line; numbers begin at 1.
  void add(std::int64_t line, const std::string& reason);

  std::int64_t count() const { return count_; }
  /// "file:line: reason" of the first skipped lines.
  const std::vector<std::string>& examples() const { return examples_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::int64_t count_ = 0;
  std::vector<std::string> examples_;
};

/// Fills the beginning of `room` with the next bytes. Returns their number; 0 at the end.
using ByteSource = std::function<std::size_t(std::span<char> room)>;

/// The bytes of a regular file; gzip is unpacked. Errors: throws Error "cannot read ...: reason".
/// The source throws RunError if reading fails later.
ByteSource open_bytes(const std::string& path);

/// The bytes of a text. The text must outlive the source.
ByteSource bytes_of(std::string_view text);

/// A window on a stream. Memory is bounded by the largest requested piece, not by the size of the
/// file.
class ByteWindow {
 public:
  /// The number of readable bytes after `text`. Their values are undefined; parsers read whole
  /// blocks.
  static constexpr std::size_t kSlack = 64;

  explicit ByteWindow(ByteSource source) : source_(std::move(source)) {}

  /// Bytes that are read and not consumed; valid until `more`.
  std::span<char> text() { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Drops the first bytes of `text`.
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Appends bytes to `text`. Returns false at the end of the stream.
  bool more();
  bool is_at_end() const { return is_at_end_; }

 private:
  ByteSource source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t size_ = 0, begin_ = 0, end_ = 0;
  bool is_at_end_ = false;
};

/// The byte order mark; files in UTF-8 may begin with it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Bytes of a damaged file that are read again to find whole rows and events. The limit keeps the
/// time linear in the size of the file.
inline constexpr std::size_t kMostReadAgain = std::size_t{64} << 20;

/// The longest line that is read; longer lines are skipped.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

/// Reads the lines of a log in one pass, without CR and LF.
class LineReader {
 public:
  LineReader(ByteWindow window, std::string file)
      : window_(std::move(window)), skipped_(std::move(file)) {}

  /// Reads the next line, which may be empty. Returns false at the end.
  bool next();
  /// Valid until `next`.
  std::string_view text() const { return text_; }
  /// Line numbers begin at 1.
  std::int64_t line() const { return line_; }
  void skip(const std::string& reason) { skipped_.add(line_, reason); }
  const SkippedLines& skipped() const { return skipped_; }

 private:
  void skip_rest();

  ByteWindow window_;
  SkippedLines skipped_;
  std::string_view text_;
  std::size_t consumed_ = 0, looked_at_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace opbench
