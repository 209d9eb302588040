#include "text/table.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "tensor/utf8.h"
#include "text/cell.h"

namespace opbench {
namespace {

constexpr std::size_t kGap = 2;

std::string padded(const std::string& text, std::size_t width, bool is_number) {
  const std::size_t used = utf8_length(text);
  const std::string blank(width > used ? width - used : 0, ' ');
  return is_number ? blank + text : text + blank;
}

void drop_column(TextTable& table, std::string_view title) {
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(),
                   [&](const TextTable::Column& column) { return column.title == title; });
  if (found == table.columns.end()) return;
  const std::ptrdiff_t place = found - table.columns.begin();
  table.columns.erase(found);
  for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + place);
}

}  // namespace

std::vector<TextTable::Column> columns_of(std::string_view titles) {
  std::vector<TextTable::Column> columns;
  for (std::size_t begin = 0; begin <= titles.size();) {
    const std::size_t end = std::min(titles.find('|', begin), titles.size());
    std::string_view title = titles.substr(begin, end - begin);
    const bool is_number = title.starts_with('>');
    if (is_number) title.remove_prefix(1);
    columns.push_back({std::string(title), is_number});
    begin = end + 1;
  }
  return columns;
}

void write_markdown(std::ostream& out, const TextTable& table) {
  std::vector<std::string> cells;
  for (const TextTable::Column& column : table.columns) cells.push_back(column.title);
  write_markdown_row(out, cells);
  out << '|';
  for (const TextTable::Column& column : table.columns)
    out << (column.is_number ? "---:|" : "---|");
  out << '\n';
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    cells.clear();
    for (const std::string& cell : table.rows[i]) cells.push_back(markdown_escaped(cell));
    const bool is_best = std::find(table.best.begin(), table.best.end(), i) != table.best.end();
    if (is_best) cells[table.name] = "**" + cells[table.name] + "**";
    write_markdown_row(out, cells);
  }
}

Layout::Layout(TextTable table) : table_(std::move(table)) {
  for (std::vector<std::string>& row : table_.rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    std::size_t width = utf8_length(table_.columns[i].title);
    for (const auto& row : table_.rows) width = std::max(width, utf8_length(row[i]));
    widths_.push_back(width);
  }
}

std::size_t Layout::width(std::size_t column) const { return widths_[column] + kGap; }

std::size_t Layout::width() const {
  std::size_t sum = 0;
  for (const std::size_t width : widths_) sum += width + kGap;
  return sum - std::min(sum, kGap);
}

std::string Layout::titles(std::size_t first, std::size_t end) const {
  TextTable::Row titles;
  for (const TextTable::Column& column : table_.columns) titles.push_back(column.title);
  return line(titles, first, end);
}

std::string Layout::row(std::size_t number, std::size_t first, std::size_t end) const {
  return line(table_.rows[number], first, end);
}

std::string Layout::line(const TextTable::Row& cells, std::size_t first, std::size_t end) const {
  std::string text = cell(0, cells[0]);
  for (std::size_t i = first; i < end; ++i) text += std::string(kGap, ' ') + cell(i, cells[i]);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string Layout::cell(std::size_t column, const std::string& text) const {
  return padded(text, widths_[column], table_.columns[column].is_number);
}

Layout fitted(TextTable table, std::size_t width, std::span<const std::string_view> least) {
  for (const std::string_view title : least) {
    if (Layout(table).width() <= width) break;
    drop_column(table, title);
  }
  return Layout(std::move(table));
}

}  // namespace opbench
