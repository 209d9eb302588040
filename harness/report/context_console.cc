// A context's steps on the console.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "harness/report/context.h"
#include "harness/report/status_colour.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "tensor/printable.h"
#include "tensor/utf8.h"
#include "text/wrapped.h"

namespace opbench::report {
namespace {

constexpr std::size_t kWidth = 120;
constexpr std::size_t kMostTypes = 15;
constexpr std::size_t kIndent = 2, kGap = 2;
constexpr std::size_t kReasonIndent = 8;  ///< of what a step's line has no room for

std::string padded(const std::string& text, std::size_t width, bool is_number) {
  const std::size_t used = utf8_length(text);
  const std::string blank(width > used ? width - used : 0, ' ');
  return is_number ? blank + text : text + blank;
}

std::string without_end_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// A table with the width of its columns.
class Layout {
 public:
  explicit Layout(TextTable table) : table_(std::move(table)) {
    for (std::vector<std::string>& row : table_.rows) {
      for (std::string& cell : row) cell = printable(cell);
    }
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      std::size_t width = utf8_length(table_.columns[i].title);
      for (const auto& row : table_.rows) width = std::max(width, utf8_length(row[i]));
      widths_.push_back(width);
    }
  }

  std::size_t rows() const { return table_.rows.size(); }
  std::size_t columns() const { return widths_.size(); }
  std::size_t width(std::size_t column) const { return widths_[column] + kGap; }

  /// The first column and those from `first` up to `end`, without an indent.
  std::string titles(std::size_t first, std::size_t end) const {
    std::string text = cell(0, table_.columns[0].title);
    for (std::size_t i = first; i < end; ++i) {
      text += std::string(kGap, ' ') + cell(i, table_.columns[i].title);
    }
    return text;
  }
  std::string row(std::size_t number, std::size_t first, std::size_t end) const {
    const std::vector<std::string>& cells = table_.rows[number];
    std::string text = cell(0, cells[0]);
    for (std::size_t i = first; i < end; ++i) text += std::string(kGap, ' ') + cell(i, cells[i]);
    return text;
  }

 private:
  std::string cell(std::size_t column, const std::string& text) const {
    return padded(text, widths_[column], table_.columns[column].is_number);
  }

  TextTable table_;
  std::vector<std::size_t> widths_;
};

// What does not fit beside the numbers goes below them.
void print_step(std::ostream& out, const ContextSteps& steps, std::size_t i,
                const std::string& line, const ConsoleStyle& style) {
  const Record& record = *steps[i];
  const std::string status = status_text(record), verdict = printable(step_verdict(steps, i));
  const std::string rest = verdict.substr(status.size());
  out << (record.is_best ? coloured(line, kBold, style) : line)
      << coloured(status, status_colour(record.status), style);
  if (utf8_length(line) + utf8_length(verdict) <= kWidth) {
    out << rest << '\n';
    return;
  }
  // After ": " or ", ".
  out << '\n'
      << std::string(kReasonIndent, ' ')
      << coloured(wrapped(rest.substr(std::min<std::size_t>(2, rest.size())), kWidth, kReasonIndent,
                          kReasonIndent),
                  kDim, style)
      << '\n';
}

void print_steps(std::ostream& out, const ContextSteps& steps, const ConsoleStyle& style) {
  const Layout layout(step_table(steps));
  const std::string gap(kGap, ' ');
  out << coloured("  " + layout.titles(1, layout.columns()) + gap + "verdict", kDim, style) << '\n';
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string line = fmt::format("{} {}{}", steps[i]->is_best ? '*' : ' ',
                                         layout.row(i, 1, layout.columns()), gap);
    print_step(out, steps, i, line, style);
  }
}

// As many steps side by side as there is room for.
void print_times(std::ostream& out, const ContextSteps& steps, const ConsoleStyle& style) {
  const TimeTable times = time_table(steps, kMostTypes);
  if (times.table.rows.empty()) return;
  const Layout layout(times.table);
  const std::string indent(kIndent, ' ');
  out << '\n'
      << coloured(fmt::format("{}where the time goes, by step: {} and share of all tasks", indent,
                              times.unit),
                  kDim, style)
      << '\n';
  for (std::size_t first = 1; first < layout.columns();) {
    std::size_t end = first, used = kIndent + layout.width(0);
    while (end < layout.columns() && (end == first || used + layout.width(end) <= kWidth)) {
      used += layout.width(end++);
    }
    out << coloured(indent + layout.titles(first, end), kDim, style) << '\n';
    for (std::size_t i = 0; i < layout.rows(); ++i) {
      out << without_end_blanks(indent + layout.row(i, first, end)) << '\n';
    }
    first = end;
  }
}

}  // namespace

void print_contexts(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  for (const ContextSteps& steps : steps_by_context(records)) {
    const Record& first = *steps.front();
    out << coloured(printable(context_title(first)), kBold, style)
        << fmt::format("  ({}, {} step{})\n", printable(context_details(first)), steps.size(),
                       steps.size() == 1 ? "" : "s");
    print_steps(out, steps, style);
    print_times(out, steps, style);
    out << '\n';
  }
  out.flush();
}

void print_context_summary(std::ostream& out, std::span<const Record> records) {
  const char* heading = "\nContexts, fastest step against the first:\n";
  for (const ContextSteps& steps : steps_by_context(records)) {
    const Record* best = nullptr;
    std::size_t timed = 0;
    for (const Record* r : steps) {
      timed += r->is_timed();
      if (!r->is_timed() || !(r->step->speedup_over_first > 0)) continue;
      const bool is_faster =
          best == nullptr || r->step->speedup_over_first > best->step->speedup_over_first;
      if (is_faster) best = r;
    }
    const std::string found = best == nullptr
                                  ? std::string("none timed")
                                  : fmt::format("{} {}", printable(best->variant),
                                                factor_text(best->step->speedup_over_first));
    out << heading
        << fmt::format("  {}, {}: {}; {} of {} steps timed\n",
                       printable(context_title(*steps.front())),
                       printable(context_details(*steps.front())), found, timed, steps.size());
    heading = "";
  }
}

}  // namespace opbench::report
