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

/// A cell: nothing where the record has no such value.
using Cell = std::variant<std::monostate, std::string, double, std::int64_t, bool>;

/// A cell of a CSV file, RFC 4180: quoted only if it must be. What a spreadsheet would take for a
/// formula gets an apostrophe in front; numbers, "-5", do not.
std::string csv_quoted(std::string_view text);

/// The same of any value; numbers in as many digits as give them back, empty where they are not
/// finite or absent.
std::string csv_cell(const Cell& cell);

/// Writes a row of a CSV file.
void write_csv_row(std::ostream& out, const std::vector<Cell>& cells, std::string_view end = "\n");

/// What a cell holds, null where it holds nothing or no finite number.
nlohmann::ordered_json cell_value(const Cell& cell);

/// A number as JSON can hold it: null where it is not finite.
nlohmann::ordered_json finite_or_null(double value);

/// Text of GitHub's Markdown that stays in its cell and is no markup, no HTML and no link.
std::string markdown_escaped(std::string_view text);

/// A block of shell commands, which nothing in them ends.
void write_markdown_code(std::ostream& out, const std::vector<std::string>& lines);

}  // namespace opbench
