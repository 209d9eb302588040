// A context's steps in Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ostream>

#include "harness/report/context.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "text/markdown_text.h"

namespace opbench::report {
namespace {

// The step's name and all that follows it but what the step changes are numbers.
void write_steps(std::ostream& out, const ContextSteps& steps) {
  const TextTable table = step_table(steps);
  std::vector<std::string> titles;
  for (const TableColumn& column : table.columns) titles.push_back(column.title);
  const std::size_t numbers_end = titles.size() + 1;
  titles.insert(titles.begin() + 2, "changes");
  titles.emplace_back("verdict");
  write_markdown_titles(out, titles, 3, numbers_end);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<std::string> cells;
    for (const std::string& cell : table.rows[i]) cells.push_back(markdown_escaped(cell));
    if (steps[i]->is_best) cells[1] = fmt::format("**{}**", cells[1]);
    cells.insert(cells.begin() + 2, markdown_escaped(steps[i]->step->summary));
    cells.push_back(markdown_escaped(step_verdict(steps, i)));
    write_markdown_row(out, cells);
  }
  out << '\n';
}

void write_times(std::ostream& out, const ContextSteps& steps) {
  const TimeTable times = time_table(steps, std::numeric_limits<std::size_t>::max() - 1);
  if (times.table.rows.empty()) return;
  out << "Where the time goes, by type of task and step: " << times.unit
      << " and share of all tasks.\n\n";
  std::vector<std::string> titles = {"type"};
  for (std::size_t i = 1; i < times.table.columns.size(); ++i) {
    titles.push_back(times.table.columns[i].title);
  }
  write_markdown_titles(out, titles, 1, titles.size());
  for (const auto& row : times.table.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(markdown_escaped(cell));
    write_markdown_row(out, cells);
  }
  out << '\n';
}

}  // namespace

bool only_steps(std::span<const Record> records) {
  return std::all_of(records.begin(), records.end(),
                     [](const Record& r) { return r.step.has_value(); });
}

void write_contexts_markdown(std::ostream& out, std::span<const Record> records) {
  for (const ContextSteps& steps : steps_by_context(records)) {
    const Record& first = *steps.front();
    out << "## " << markdown_escaped(context_title(first)) << "\n\n"
        << markdown_escaped(context_details(first)) << "\n\n";
    write_steps(out, steps);
    write_times(out, steps);
  }
}

}  // namespace opbench::report
