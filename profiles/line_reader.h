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

/// Lines of a file that could not be read: all are counted, the first are told.
class SkippedLines {
 public:
  explicit SkippedLines(std::string file) : file_(std::move(file)) {}

  /// Notes that the line, from 1 on, was left out.
  void add(std::int64_t line, const std::string& reason);

  std::int64_t count() const { return count_; }
  /// "file:line: reason" of the first ones.
  const std::vector<std::string>& examples() const { return examples_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::int64_t count_ = 0;
  std::vector<std::string> examples_;
};

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

/// The byte order mark that files in UTF-8 may begin with.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Bytes of a damaged file that may be read again in search of whole rows and events: the time
/// stays linear in the size.
inline constexpr std::size_t kMostReadAgain = std::size_t{64} << 20;

/// Lines that are longer are skipped.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

/// The lines of a log in one pass, without CR and LF.
class LineReader {
 public:
  LineReader(ByteWindow window, std::string file)
      : window_(std::move(window)), skipped_(std::move(file)) {}

  /// The next line, empty ones too. Returns false at the end.
  bool next();
  /// Valid until `next`.
  std::string_view text() const { return text_; }
  /// From 1 on.
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
