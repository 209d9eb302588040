#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/line_reader.h"

namespace opbench {

/// A longer record has lost a quote.
inline constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

/// The records of a CSV file in one pass, RFC 4180 and what profilers make of it: CRLF, a byte
/// order mark, blanks and tabs around cells, quotes inside of quotes, newlines in quoted cells.
///
/// A record of more lines than one that has no end, or not as many cells as its header, is taken
/// for a line that was cut inside a quoted cell: that line is skipped, and reading goes on with the
/// next. After too much of that, newlines end quoted cells.
class TableReader {
 public:
  TableReader(ByteWindow window, std::string file)
      : window_(std::move(window)), skipped_(std::move(file)) {}

  /// The next record that has a cell. Returns false at the end.
  bool next();
  /// From here on records of another number of cells are skipped; empty cells behind the last one
  /// are none.
  void expect_columns(std::size_t columns) { columns_ = columns; }

  std::size_t size() const { return cells_.size(); }
  /// A cell without its quotes and the blanks around it; empty where the record has no such cell.
  /// Valid until `next`.
  std::string_view cell(std::size_t index);
  /// The line on which the record begins, from 1 on.
  std::int64_t line() const { return line_; }
  /// Leaves the record out for a reason of the caller's.
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
  std::span<char> text_;  ///< what `cells_` point into
  std::optional<std::size_t> columns_;
  std::size_t consumed_ = 0;  ///< the record that was given last
  std::int64_t line_ = 1;
  std::int64_t lines_inside_ = 0;  ///< line ends of the record that is looked at
  bool is_begun_ = false, is_closed_ = false, newline_ends_cells_ = false;
  std::size_t read_again_ = 0;  ///< bytes that were looked at more than once
};

}  // namespace opbench
