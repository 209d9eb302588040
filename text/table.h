#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// A table for people. Texts as they are: each renderer makes them safe for where they go.
struct TextTable {
  struct Column {
    std::string title;
    bool is_number = false;  ///< aligned to the right
  };
  using Row = std::vector<std::string>;

  std::vector<Column> columns = {};
  std::vector<Row> rows = {};
  std::size_t name = 0;                ///< the column that names a row
  std::vector<std::size_t> best = {};  ///< rows that stand out
};

/// The columns of titles with '|' between them; '>' begins that of a column of numbers.
std::vector<TextTable::Column> columns_of(std::string_view titles);

/// In GitHub's Markdown; names of rows that stand out in bold type.
void write_markdown(std::ostream& out, const TextTable& table);

/// A table on the console: columns as wide as their widest cell, two blanks between them.
class Layout {
 public:
  explicit Layout(TextTable table);

  std::size_t rows() const { return table_.rows.size(); }
  std::size_t columns() const { return widths_.size(); }
  /// With the gap before it.
  std::size_t width(std::size_t column) const;
  /// Of a whole line, without an indent.
  std::size_t width() const;

  /// The first column and those from `first` up to `end`, without an indent or blanks at the end.
  std::string titles(std::size_t first, std::size_t end) const;
  std::string row(std::size_t number, std::size_t first, std::size_t end) const;
  std::string titles() const { return titles(1, columns()); }
  std::string row(std::size_t number) const { return row(number, 1, columns()); }

 private:
  std::string line(const TextTable::Row& cells, std::size_t first, std::size_t end) const;
  std::string cell(std::size_t column, const std::string& text) const;

  TextTable table_;
  std::vector<std::size_t> widths_;
};

/// The same without as many of the columns called `least`, the first first, as do not fit `width`.
Layout fitted(TextTable table, std::size_t width, std::span<const std::string_view> least);

}  // namespace opbench
