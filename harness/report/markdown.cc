#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <ostream>
#include <vector>

#include "harness/report/count_table.h"
#include "harness/report/report.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "harness/report/variant_summary.h"
#include "text/cell.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

constexpr std::size_t kLongestAttributeList = 40;  // characters

std::string attributes_text(const Record& record) {
  std::string text = with_short_lists(record.attributes, kLongestAttributeList);
  for (const auto& [applies, what] :
       {std::pair{record.backward, "forward+backward"}, std::pair{record.cold, "cold"}}) {
    if (applies) text += fmt::format("{}{}", text.empty() ? "" : " ", what);
  }
  return text;
}

TextTable::Row record_cells(const Record& r, double vendor_us, const TimeUnit& unit) {
  const std::optional<Times>& t = r.times;
  return {name_text(r),
          with_short_lists(r.shape),
          r.dtype,
          r.format,
          attributes_text(r),
          std::to_string(r.threads),
          r.variant,
          r.provider,
          t ? time_text(t->median_us, unit) : "-",
          spread_text(r),
          t ? fmt::format("{:.1f}", t->gb_per_s) : "-",
          roofline_text(r),
          ratio_text(r, t ? t->speedup_over_native : 0),
          ratio_text(r, t && t->median_us > 0 ? vendor_us / t->median_us : 0),
          inside_text(r),
          ulp_text(r),
          r.reason.empty() ? status_text(r) : fmt::format("{}: {}", status_text(r), r.reason)};
}

// A common unit for the whole table.
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
    TextTable table{
        columns_of("name|shape|dtype|format|attributes|threads|variant|provider|>time|>spread|"
                   ">GB/s|>% of roofline|>v. native|>v. onednn|>inside|>max ULP|verdict")};
    table.name = 6;
    const TimeUnit unit = unit_of(records, op);
    for (const Record& record : records) {
      if (record.op != op || record.step) continue;
      if (record.is_best) table.best.push_back(table.rows.size());
      const auto found = vendor.find(place_of(record));
      table.rows.push_back(record_cells(record, found == vendor.end() ? 0 : found->second, unit));
    }
    opbench::write_markdown(out, table);
    out << '\n';
  }
}

void write_summary(std::ostream& out, const RunResult& result) {
  const VariantComparison comparison = compare_over_cases(result.records);
  if (comparison.variants.empty() && !result.records.empty()) return;
  out << "## Summary\n\n";
  for (const NetworkTotal& total : network_totals(result.records)) {
    out << network_text(total) << "\n\n";
  }
  out << comparison.title() << ".\n\n";
  opbench::write_markdown(out, comparison.table());
  out << '\n';
}

void write_counts(std::ostream& out, std::span<const Record> records) {
  const TextTable table = count_table(records, true);
  if (table.columns.empty()) return;
  out << "## Counters, per call\n\n";
  opbench::write_markdown(out, table);
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
  TextTable table{
      columns_of("operator|name|shape|dtype|format|attributes|threads|variant|>time|"
                 ">slower than|>its time|>ratio")};
  for (const SlowResult& found : slow) {
    const Record& r = *found.record;
    table.rows.push_back(
        {r.op, name_text(r), with_short_lists(r.shape), r.dtype, r.format, attributes_text(r),
         std::to_string(r.threads), r.variant, time_text(r.times->median_us), found.faster->variant,
         time_text(found.faster->times->median_us), fmt::format("{:.2f}", found.ratio)});
  }
  opbench::write_markdown(out, table);
}

}  // namespace

TextTable machine_table(const Machine& m) {
  const auto size = [](std::size_t bytes) {
    return bytes == 0 ? "unknown" : byte_size_text(static_cast<double>(bytes));
  };
  std::vector<std::string> libraries;
  for (const auto& [name, version] : m.libraries) libraries.push_back(name + ' ' + version);
  return {columns_of("|"),
          {{"CPU", m.cpu + (m.is_virtual ? ", virtual machine" : "")},
           {"cores", std::to_string(m.cores)},
           {"caches", fmt::format("L1d {}, L2 {}, L3 {}", size(m.l1d_bytes), size(m.l2_bytes),
                                  size(m.l3_bytes))},
           {"memory", size(m.memory_bytes)},
           {"governor", m.governor},
           {"turbo", m.turbo},
           {"load", fmt::format("{:.2f}", m.load)},
           {"system", m.os},
           {"vectors", fmt::format("{} (of {})", m.isa, fmt::join(m.isas, ", "))},
           {"opbench", fmt::format("{}, revision {}", m.version, m.revision)},
           {"compiler", fmt::format("{}, {}, {}", m.compiler, m.build_type, m.flags)},
           {"libraries", fmt::format("{}", fmt::join(libraries, ", "))},
           {"date", m.date}}};
}

void write_markdown(std::ostream& out, const RunResult& result, const Machine& machine,
                    const std::string& command) {
  out << "# opbench results\n\n";
  write_markdown_code(out, {command});
  out << '\n';
  out << "## Machine\n\n";
  opbench::write_markdown(out, machine_table(machine));
  out << '\n';
  write_operators(out, result.records);
  write_contexts_markdown(out, result.records);
  write_counts(out, result.records);
  write_summary(out, result);
  if (result.was_interrupted) out << "Interrupted: what was complete is kept.\n\n";
  if (result.records.empty() || !only_steps(result.records)) write_slow(out, result.records);
}

// A context's steps in Markdown.
namespace {

void write_steps(std::ostream& out, const ContextSteps& steps) {
  TextTable table = step_table(steps);
  table.columns.insert(table.columns.begin() + 2, {"changes"});
  table.columns.push_back({"verdict"});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    table.rows[i].insert(table.rows[i].begin() + 2, steps[i]->step->summary);
    table.rows[i].push_back(step_verdict(steps, i));
  }
  opbench::write_markdown(out, table);
  out << '\n';
}

void write_times(std::ostream& out, const ContextSteps& steps) {
  TimeTable times = time_table(steps, std::numeric_limits<std::size_t>::max() - 1);
  if (times.table.rows.empty()) return;
  out << "Where the time goes, by type of task and step: " << times.unit
      << " and share of all tasks.\n\n";
  times.table.columns[0].title = "type";
  opbench::write_markdown(out, times.table);
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
    if (const std::string text = published_text(steps); !text.empty()) {
      out << markdown_escaped(text) << "\n\n";
    }
    write_times(out, steps);
  }
}

}  // namespace opbench::report
