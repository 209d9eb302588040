#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace opbench::csv {

using Row = std::vector<std::string>;

/// RFC 4180: quoted cells, doubled quotes, line ends of either kind.
inline std::vector<Row> parse(const std::string& text) {
  std::vector<Row> rows;
  Row row;
  std::string cell;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_quoted) {
      if (letter != '"') {
        cell += letter;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        is_quoted = false;
      }
    } else if (letter == '"') {
      is_quoted = true;
    } else if (letter == ',') {
      row.push_back(std::move(cell));
      cell.clear();
    } else if (letter == '\n') {
      row.push_back(std::move(cell));
      cell.clear();
      rows.push_back(std::move(row));
      row.clear();
    } else if (letter != '\r') {
      cell += letter;
    }
  }
  return rows;
}

/// The cell of a row under a title. Row 0 holds the titles.
inline std::string cell(const std::vector<Row>& rows, std::size_t row, const std::string& title) {
  const auto found = std::find(rows.at(0).begin(), rows[0].end(), title);
  if (found == rows[0].end()) return "no column " + title;
  return rows.at(row).at(static_cast<std::size_t>(found - rows[0].begin()));
}

inline std::vector<Row> read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return parse(text.str());
}

}  // namespace opbench::csv
