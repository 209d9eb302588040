#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/step_table.h"

namespace opbench::report {

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

  /// The first column and those from `first` up to `end`, without an indent.
  std::string titles(std::size_t first, std::size_t end) const;
  std::string row(std::size_t number, std::size_t first, std::size_t end) const;
  std::string titles() const { return titles(1, columns()); }
  std::string row(std::size_t number) const { return row(number, 1, columns()); }

 private:
  std::string cell(std::size_t column, const std::string& text) const;

  TextTable table_;
  std::vector<std::size_t> widths_;
};

/// The same without as many of the columns called `least`, the first first, as do not fit `width`.
Layout fitted(TextTable table, std::size_t width, std::span<const std::string_view> least);

}  // namespace opbench::report
