#include "text/table.h"

#include <algorithm>
#include <ostream>

#include "tensor/utf8.h"
#include "text/cell.h"

namespace opbench {
namespace {

std::size_t width_of(const TextTable& table) {
  std::size_t width = 0;
  for (const std::string& line : lines_of(table)) width = std::max(width, utf8_length(line));
  return width;
}

void write_markdown_row(std::ostream& out, const std::vector<std::string>& cells) {
  out << '|';
  for (const std::string& cell : cells) out << ' ' << cell << (cell.empty() ? "|" : " |");
  out << '\n';
}

// Returns the first column and columns [first, end).
TextTable part_of(TextTable table, std::size_t first, std::size_t end) {
  const auto cut = [&](auto& list) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(end), list.end());
    list.erase(list.begin() + 1, list.begin() + static_cast<std::ptrdiff_t>(first));
  };
  cut(table.columns);
  for (TextTable::Row& row : table.rows) cut(row);
  return table;
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

std::vector<std::string> lines_of(const TextTable& table, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines(table.rows.size() + 1, std::string(indent, ' '));
  std::size_t begin = 0;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto& [title, is_number] = table.columns[column];
    std::vector<std::string> cells = {printable(title)};
    for (const TextTable::Row& row : table.rows) cells.push_back(printable(row[column]));
    begin = utf8_length(lines[0]);
    std::size_t widest = 0;
    for (const std::string& cell : cells) widest = std::max(widest, utf8_length(cell));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blank(widest - utf8_length(cells[i]), ' ');
      lines[i] += (is_number ? blank + cells[i] : cells[i] + blank) + "  ";
    }
  }
  for (std::string& line : lines) {
    line.resize(line.find_last_not_of(' ') + 1);
    line = wrapped(line, width, std::min(begin, width / 2));
  }
  return lines;
}

void print_table(std::ostream& out, const TextTable& table, const ConsoleStyle& style,
                 std::size_t indent) {
  const std::vector<std::string> lines = lines_of(table, style.width, indent);
  if (!lines[0].empty()) out << coloured(lines[0], kDim, style) << '\n';
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string_view colour = table.colours.empty() ? "" : table.colours[i - 1];
    out << coloured(lines[i], colour, style) << '\n';
  }
}

TextTable fitted(TextTable table, std::size_t width, std::span<const std::string_view> least) {
  for (const std::string_view title : least) {
    if (width_of(table) <= width) break;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].title != title) continue;
      const auto place = static_cast<std::ptrdiff_t>(i);
      table.columns.erase(table.columns.begin() + place);
      for (TextTable::Row& row : table.rows) row.erase(row.begin() + place);
    }
  }
  return table;
}

std::vector<TextTable> split_up(const TextTable& table, std::size_t width) {
  std::vector<TextTable> parts;
  for (std::size_t first = 1; first < table.columns.size();) {
    std::size_t end = first + 1;
    while (end < table.columns.size() && width_of(part_of(table, first, end + 1)) <= width) ++end;
    parts.push_back(part_of(table, first, end));
    first = end;
  }
  return parts;
}

}  // namespace opbench
