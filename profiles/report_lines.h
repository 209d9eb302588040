#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "text/fitted.h"

namespace opbench {

/// Layout of a report.
struct ReportLayout {
  ConsoleStyle style = {};
  std::size_t width = 80;
  bool is_wide = false;   ///< names and shapes are not cut, however long the lines
  bool is_quiet = false;  ///< no tables
  std::size_t top = 15;   ///< rows of each table; 0: all

  std::size_t rows(std::size_t all) const;
};

/// Writes lines that fit the layout's width. Texts must be printable.
class ReportLines {
 public:
  ReportLines(std::ostream& out, const ReportLayout& layout) : out_(out), layout_(layout) {}

  const ReportLayout& layout() const { return layout_; }
  void blank();
  /// Wraps sentences. The first line is indented by `begin` columns, others by `indent`. `code`: a
  /// colour, or "".
  void text(std::string_view text, std::size_t begin = 0, std::size_t indent = 0,
            std::string_view code = {});
  /// Writes a row of a table: cells of fixed widths, a name that is cut in the middle, and `tail`.
  void row(std::string_view cells, std::string_view name, std::string_view tail = {},
           std::string_view code = {});
  /// Writes " and 12 more" if `all` rows are more than the layout shows.
  void rest(std::size_t all);

 private:
  void write(std::string_view blanks, const std::string& text, std::string_view code);

  std::ostream& out_;
  const ReportLayout& layout_;
};

}  // namespace opbench
