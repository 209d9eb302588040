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

/// Writes the table in GitHub's Markdown; names of rows that stand out are in bold type.
void write_markdown(std::ostream& out, const TextTable& table);

/// The lines of a table on the console, that of the titles first: columns as wide as their widest
/// cell, two blanks between them, none at the end.
std::vector<std::string> lines_of(const TextTable& table);

/// The table without as many of the columns called `least`, the first first, as do not fit `width`.
TextTable fitted(TextTable table, std::size_t width, std::span<const std::string_view> least);

/// Tables of `width` columns at most: each has the first column, and some of the others.
std::vector<TextTable> split_up(const TextTable& table, std::size_t width);

}  // namespace opbench
