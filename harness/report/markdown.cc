#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <ostream>
#include <vector>

#include "harness/report/report.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "harness/report/variant_summary.h"
#include "text/cell.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

constexpr std::size_t kLongestAttributeList = 40;  // characters

std::string size_text(std::size_t bytes) {
  return bytes == 0 ? "unknown" : byte_size_text(static_cast<double>(bytes));
}

std::string libraries_text(const Machine& m) {
  std::string text;
  for (const auto& [name, version] : m.libraries) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, version);
  }
  return text;
}

std::string isas_text(const Machine& m) {
  std::string text;
  for (const std::string& isa : m.isas) text += fmt::format("{}{}", text.empty() ? "" : ", ", isa);
  return text;
}

void write_machine(std::ostream& out, const Machine& m) {
  out << "## Machine\n\n";
  write_markdown_titles(out, {"", ""}, 2, 2);
  const auto row = [&](const char* title, const std::string& text) {
    write_markdown_row(out, {title, markdown_escaped(text)});
  };
  row("CPU", m.is_virtual ? fmt::format("{}, virtual machine", m.cpu) : m.cpu);
  row("cores", fmt::format("{}", m.cores));
  row("caches", fmt::format("L1d {}, L2 {}, L3 {}", size_text(m.l1d_bytes), size_text(m.l2_bytes),
                            size_text(m.l3_bytes)));
  row("memory", size_text(m.memory_bytes));
  row("governor", m.governor);
  row("turbo", m.turbo);
  row("load", fmt::format("{:.2f}", m.load));
  row("system", m.os);
  row("vectors", fmt::format("{} (of {})", m.isa, isas_text(m)));
  row("opbench", fmt::format("{}, revision {}", m.version, m.revision));
  row("compiler", fmt::format("{}, {}, {}", m.compiler, m.build_type, m.flags));
  row("libraries", libraries_text(m));
  row("date", m.date);
  out << '\n';
}

std::string attributes_text(const Record& record) {
  std::string text = with_short_lists(record.attributes, kLongestAttributeList);
  for (const auto& [applies, what] :
       {std::pair{record.backward, "forward+backward"}, std::pair{record.cold, "cold"}}) {
    if (applies) text += fmt::format("{}{}", text.empty() ? "" : " ", what);
  }
  return text;
}

// Name, shape, dtype, format, attributes.
std::vector<std::string> case_cells(const Record& r) {
  std::vector<std::string> cells = {name_text(r), with_short_lists(r.shape), r.dtype, r.format,
                                    attributes_text(r)};
  for (std::string& cell : cells) cell = markdown_escaped(cell);
  return cells;
}

std::string variant_text(const Record& record) {
  const std::string text = markdown_escaped(record.variant);
  return record.is_best ? fmt::format("**{}**", text) : text;
}

std::string verdict_text(const Record& record) {
  const std::string text = status_text(record);
  return record.reason.empty() ? text
                               : fmt::format("{}: {}", text, markdown_escaped(record.reason));
}

void write_record(std::ostream& out, const Record& r, double vendor_us, const TimeUnit& unit) {
  std::vector<std::string> cells = case_cells(r);
  cells.push_back(fmt::format("{}", r.threads));
  cells.push_back(variant_text(r));
  cells.push_back(markdown_escaped(r.provider));
  const std::optional<Times>& t = r.times;
  cells.push_back(t ? time_text(t->median_us, unit) : "-");
  cells.push_back(spread_text(r));
  cells.push_back(t ? fmt::format("{:.1f}", t->gb_per_s) : "-");
  cells.push_back(roofline_text(r));
  cells.push_back(ratio_text(r, t ? t->speedup_over_native : 0));
  cells.push_back(ratio_text(r, t && t->median_us > 0 ? vendor_us / t->median_us : 0));
  cells.push_back(inside_text(r));
  cells.push_back(ulp_text(r));
  cells.push_back(verdict_text(r));
  write_markdown_row(out, cells);
}

// One for the whole table.
TimeUnit unit_of(std::span<const Record> records, const std::string& op) {
  std::vector<Record> rows;
  std::copy_if(records.begin(), records.end(), std::back_inserter(rows),
               [&](const Record& record) { return record.op == op && !record.step; });
  return unit_for(rows);
}

void write_operators(std::ostream& out, std::span<const Record> records) {
  const auto vendor = vendor_medians(records);
  std::vector<std::string> ops;
  for (const Record& record : records) {
    if (record.step) continue;
    if (std::find(ops.begin(), ops.end(), record.op) == ops.end()) ops.push_back(record.op);
  }
  for (const std::string& op : ops) {
    out << "## " << markdown_escaped(op) << "\n\n";
    write_markdown_titles(out,
                          {"name", "shape", "dtype", "format", "attributes", "threads", "variant",
                           "provider", "time", "spread", "GB/s", "% of roofline", "v. native",
                           "v. onednn", "inside", "max ULP", "verdict"},
                          8, 16);
    const TimeUnit unit = unit_of(records, op);
    for (const Record& record : records) {
      if (record.op != op || record.step) continue;
      const auto found = vendor.find(place_of(record));
      write_record(out, record, found == vendor.end() ? 0 : found->second, unit);
    }
    out << '\n';
  }
}

void write_summary(std::ostream& out, const RunResult& result) {
  const VariantComparison comparison = compare_over_cases(result.records);
  if (comparison.variants.empty() && !result.records.empty()) return;
  out << "## Summary\n\n";
  for (const NetworkTotal& total : network_totals(result.records)) {
    out << network_text(total) << '\n';
  }
  out << comparison.title() << ".\n\n";
  write_markdown_titles(out,
                        {"variant", "threads", "timed", "failed", "skipped", "v. native",
                         "% of roofline", "time / onednn"},
                        1, 8);
  for (const VariantSummary& s : comparison.variants) {
    write_markdown_row(
        out, {markdown_escaped(s.variant), fmt::format("{}", s.threads), fmt::format("{}", s.timed),
              fmt::format("{}", s.failed), fmt::format("{}", s.skipped), s.speedup_text(),
              s.percent_text(), s.vendor_text()});
  }
  out << '\n';
}

void write_slow(std::ostream& out, std::span<const Record> records) {
  out << "## Slower than it should be\n\n"
         "NPU variants slower than `native`, and cases whose best NPU variant is slower than "
         "`onednn`, by more than 5 % and three times the median absolute deviation.\n\n";
  const std::vector<SlowResult> slow = slower_than_expected(records);
  if (slow.empty()) {
    out << "none\n";
    return;
  }
  write_markdown_titles(out,
                        {"operator", "name", "shape", "dtype", "format", "attributes", "threads",
                         "variant", "time", "slower than", "its time", "ratio"},
                        8, 12);
  for (const SlowResult& found : slow) {
    std::vector<std::string> cells = case_cells(*found.record);
    cells.insert(cells.begin(), markdown_escaped(found.record->op));
    cells.push_back(fmt::format("{}", found.record->threads));
    cells.push_back(markdown_escaped(found.record->variant));
    cells.push_back(time_text(found.record->times->median_us));
    cells.push_back(markdown_escaped(found.faster->variant));
    cells.push_back(time_text(found.faster->times->median_us));
    cells.push_back(fmt::format("{:.2f}", found.ratio));
    write_markdown_row(out, cells);
  }
}

}  // namespace

void write_markdown(std::ostream& out, const RunResult& result, const Machine& machine,
                    const std::string& command) {
  out << "# opbench results\n\n";
  write_markdown_code(out, {command});
  out << '\n';
  write_machine(out, machine);
  write_operators(out, result.records);
  write_contexts_markdown(out, result.records);
  write_summary(out, result);
  if (result.was_interrupted) out << "Interrupted: what was complete is kept.\n\n";
  if (result.records.empty() || !only_steps(result.records)) write_slow(out, result.records);
}

// A context's steps in Markdown.
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
