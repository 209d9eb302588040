#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/fitted.h"

namespace opbench {

/// A table for display. Texts are stored unescaped; each renderer escapes them.
struct TextTable {
  struct Column {
    std::string title;
    bool is_number = false;  ///< aligned to the right
  };
  using Row = std::vector<std::string>;

  std::vector<Column> columns = {};
  std::vector<Row> rows = {};
  std::size_t name = 0;                        ///< index of the column with the rows' names
  std::vector<std::size_t> best = {};          ///< indices of highlighted rows
  std::vector<std::string_view> colours = {};  ///< each row's on the console; empty: no colours
};

/// Parses the titles of columns, separated by '|'. '>' in front marks a column of numbers.
std::vector<TextTable::Column> columns_of(std::string_view titles);

/// Writes the table in GitHub's Markdown. Names of highlighted rows are bold.
void write_markdown(std::ostream& out, const TextTable& table);

/// Returns the lines of a table for the console, titles first: `indent` blanks, then columns as
/// wide as their widest cell with two blanks between them. A line longer than `width` continues
/// below its last column, at half of the width at most.
std::vector<std::string> lines_of(const TextTable& table, std::size_t width = std::string::npos,
                                  std::size_t indent = 0);

/// Prints these lines with dim titles, without titles if all are empty.
void print_table(std::ostream& out, const TextTable& table, const ConsoleStyle& style,
                 std::size_t indent = 2);

/// Removes columns called `least`, in that order, until the table fits `width`.
TextTable fitted(TextTable table, std::size_t width, std::span<const std::string_view> least);

/// Splits a table into tables of at most `width` columns. Each has the first column and some of the
/// others.
std::vector<TextTable> split_up(const TextTable& table, std::size_t width);

}  // namespace opbench
