#pragma once

#include <cstddef>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/report.h"
#include "harness/run/record.h"
#include "text/table.h"

// Reports of contexts: records that have a step. Records of single operators are passed over.
namespace opbench::report {

/// For every context a table of its steps and, below it, one that tells by type of task where the
/// time goes. Columns that do not fit are left out, the least important first.
void print_contexts(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style);

/// The same two tables in Markdown, with what every step changes, in a section per context.
void write_contexts_markdown(std::ostream& out, std::span<const Record> records);

/// A line per context: how much faster its fastest step is than its first. Nothing without any.
void print_context_summary(std::ostream& out, std::span<const Record> records,
                           const ConsoleStyle& style);

/// A process per context and in it a row per step, on which every task is a slice; steps begin at
/// 0, one below the other. Appended to `events`; the first process is `first_process`.
void add_task_slices(nlohmann::ordered_json& events, std::span<const Record> records,
                     int first_process);

/// True if no record is one of a single operator.
bool only_steps(std::span<const Record> records);

/// The steps of one context with one number of threads, in the order of the records.
using ContextSteps = std::vector<const Record*>;

/// Those among the records; records of single operators are passed over. Steps of one context
/// need not stand together. Pointers go into `records`.
std::vector<ContextSteps> steps_by_context(std::span<const Record> records);

/// A row for each step: number from 1, name, time, its spread, time per sample (only where steps
/// differ in their samples), TransData count and MiB, Cast count, copies, peak memory, the step it
/// builds on (only where that is not always the row above), how many times faster than that and
/// than the first. The verdict is `step_verdict`.
TextTable step_table(const ContextSteps& steps);

/// Whether the times of two steps per sample differ by less than their spreads resolve: twice the
/// standard error of the ratio of their medians. False with fewer than three samples, which tell
/// nothing of a spread.
bool is_equal_within_noise(const Record& step, const Record& before);

/// Of step `i`: "passed", "skipped: exists on a device only", "passed, overflow, 1 update skipped",
/// "passed, equal within noise to concat_nchw", the step it builds on.
std::string step_verdict(const ContextSteps& steps, std::size_t i);

/// Where the time goes: a row for each type of task, TransData, Cast and contiguous first, the
/// others by their time in the first step that has them; "others" for those beyond
/// `most_types`; last the sum. A column for each step that has tasks, titled with its number.
/// Cells: time in `unit`, share of all tasks.
struct TimeTable {
  std::string_view unit;  ///< "us", "ms" or "s"
  TextTable table;        ///< empty if no step has tasks
};
TimeTable time_table(const ContextSteps& steps, std::size_t most_types);

/// "shufflenet_v2 fp16", with shape, attributes and "forward+backward" where there are any.
std::string context_title(const Record& first);
/// "2 threads, cold": how it was measured.
std::string context_details(const Record& first);

}  // namespace opbench::report
