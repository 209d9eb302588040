#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "text/fitted.h"

namespace opbench {

/// How a report is laid out.
struct ReportLayout {
  ConsoleStyle style = {};
  std::size_t width = 80;
  bool is_wide = false;   ///< whole names and shapes, however long the lines
  bool is_quiet = false;  ///< no tables
  std::size_t top = 15;   ///< rows of each table; 0: all

  std::size_t rows(std::size_t all) const;
};

/// Writes lines of at most the layout's width. Texts are printable already.
class ReportLines {
 public:
  ReportLines(std::ostream& out, const ReportLayout& layout) : out_(out), layout_(layout) {}

  const ReportLayout& layout() const { return layout_; }
  void blank();
  /// Sentences, which are wrapped: the first line begins `begin` columns in, others `indent`.
  /// `code`: a colour; "" for none.
  void text(std::string_view text, std::size_t begin = 0, std::size_t indent = 0,
            std::string_view code = {});
  /// A row of a table: cells of fixed widths, a name that is cut in the middle, and what follows
  /// it.
  void row(std::string_view cells, std::string_view name, std::string_view tail = {},
           std::string_view code = {});
  /// "  and 12 more", where `all` rows are more than the layout's.
  void rest(std::size_t all);

 private:
  void write(std::string_view blanks, const std::string& text, std::string_view code);

  std::ostream& out_;
  const ReportLayout& layout_;
};

}  // namespace opbench
