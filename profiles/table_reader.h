#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/line_reader.h"

namespace opbench {

/// The longest record; a longer record lacks a quote.
inline constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

/// Reads the records of a CSV file in one pass. Follows RFC 4180 and the variations of profilers:
/// CRLF, a byte order mark, blanks and tabs around cells, quotes inside of quotes, newlines in
/// quoted cells.
/// A line that was truncated inside a quoted cell makes a record of several lines. That record has
/// no end, or not as many cells as the header. Then only the line is skipped, and reading continues
/// with the next. After 64 MiB of that, newlines end quoted cells.
/// next. After 64 MiB of that, newlines end quoted cells.
class TableReader {
 public:
  TableReader(ByteWindow window, std::string file)
      : window_(std::move(window)), skipped_(std::move(file)) {}

  /// Reads the next record that is not empty. Returns false at the end.
  bool next();
  /// Records with another number of cells are skipped from here on. Empty cells after the last
  /// column do not count.
  void expect_columns(std::size_t columns) { columns_ = columns; }

  std::size_t size() const { return cells_.size(); }
  /// A cell without its quotes and the blanks around it. Empty if the record has no such cell.
  /// Valid until `next`.
  std::string_view cell(std::size_t index);
  /// The line on which the record begins; numbers begin at 1.
  std::int64_t line() const { return line_; }
  /// Counts the record as skipped, with the caller's reason.
  void skip(const std::string& reason) { skipped_.add(line_, reason); }
  const SkippedLines& skipped() const { return skipped_; }

 private:
  struct RawCell {
    std::size_t begin = 0, end = 0;  ///< without quotes
    bool has_doubled_quotes = false;
  };

  void skip_mark();
  std::optional<std::size_t> parse_record(std::size_t at);
  bool holds_whole_row(std::size_t length);
  std::optional<std::size_t> parse_quoted(std::size_t at);
  std::optional<std::size_t> parse_plain(std::size_t at);
  void skip_line(const std::string& reason);
  bool is_accepted(std::size_t length);

  ByteWindow window_;
  SkippedLines skipped_;
  std::vector<RawCell> cells_;
  std::span<char> text_;  ///< the text of `cells_`
  std::optional<std::size_t> columns_;
  std::size_t consumed_ = 0;  ///< length of the last record that was given out
  std::int64_t line_ = 1;
  std::int64_t lines_inside_ = 0;  ///< line ends of the current record
  bool is_begun_ = false, is_closed_ = false, newline_ends_cells_ = false;
  std::size_t read_again_ = 0;  ///< bytes that were read more than once
};

}  // namespace opbench
