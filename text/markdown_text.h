#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

// Tables of GitHub's Markdown.
namespace opbench {

/// Text that stays in its cell and is no markup, no HTML and no link.
std::string markdown_escaped(std::string_view text);

/// A block of shell commands, which nothing in them ends.
void write_markdown_code(std::ostream& out, const std::vector<std::string>& lines);

/// A row of a table. Cells are Markdown already.
void write_markdown_row(std::ostream& out, const std::vector<std::string>& cells);

/// Titles, and the line below them; columns from `right` up to `right_end` are numbers.
void write_markdown_titles(std::ostream& out, const std::vector<std::string>& titles,
                           std::size_t right, std::size_t right_end);

}  // namespace opbench
