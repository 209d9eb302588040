#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace opbench {

/// A cell of a table; empty if the record has no such value.
using Cell = std::variant<std::monostate, std::string, double, std::int64_t, bool>;

/// Returns a cell of a CSV file, RFC 4180, quoted only if necessary. Texts that a spreadsheet would
/// read as a formula get an apostrophe in front. Numbers such as "-5" do not.
std::string csv_quoted(std::string_view text);

/// Like csv_quoted, for any value. Numbers have enough digits to be read back exactly. Absent and
/// non-finite numbers are empty.
std::string csv_cell(const Cell& cell);

/// Writes a row of a CSV file.
void write_csv_row(std::ostream& out, const std::vector<Cell>& cells, std::string_view end = "\n");

/// Converts a cell to JSON; null for an empty cell or a non-finite number.
nlohmann::ordered_json cell_value(const Cell& cell);

/// Converts a number to JSON; null if it is not finite.
nlohmann::ordered_json finite_or_null(double value);

/// Escapes a text for GitHub's Markdown, so that it stays in its cell and contains no markup, HTML
/// or links.
std::string markdown_escaped(std::string_view text);

/// Writes a block of shell commands with a fence that the commands do not contain.
void write_markdown_code(std::ostream& out, const std::vector<std::string>& lines);

}  // namespace opbench
