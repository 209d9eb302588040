#include "profiles/report_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ostream>

#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {

std::size_t ReportLayout::rows(std::size_t all) const {
  return top == 0 ? all : std::min(all, top);
}

void ReportLines::blank() { out_ << '\n'; }

void ReportLines::text(std::string_view text, std::size_t begin, std::size_t indent,
                       std::string_view code) {
  write(std::string(begin, ' '),
        layout_.is_wide ? std::string(text) : wrapped(text, layout_.width, indent, begin), code);
}

void ReportLines::row(std::string_view cells, std::string_view name, std::string_view tail,
                      std::string_view code) {
  const std::size_t used = utf8_length(cells) + utf8_length(tail);
  const std::size_t room = layout_.is_wide ? std::numeric_limits<std::size_t>::max()
                                           : layout_.width - std::min(layout_.width, used);
  const std::string line = std::string(cells).append(shortened(name, room)).append(tail);
  write("", layout_.is_wide ? line : shortened(line, layout_.width), code);
}

void ReportLines::write(std::string_view blanks, const std::string& text, std::string_view code) {
  const std::string shown = text.substr(0, text.find_last_not_of(' ') + 1);
  out_ << blanks << coloured(shown, code, layout_.style) << '\n';
}

void ReportLines::rest(std::size_t all) {
  if (all > layout_.rows(all)) out_ << fmt::format("  and {} more\n", all - layout_.rows(all));
}

}  // namespace opbench
