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

// Reports of contexts: records with a step. Records of single operators are skipped.
namespace opbench::report {

/// Prints for every context a table of its steps and, below it, a table of times by type of task.
/// Columns that do not fit are omitted, the least important first.
void print_contexts(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style);

/// Writes both tables in Markdown, with the changes of every step, in a section for each context.
void write_contexts_markdown(std::ostream& out, std::span<const Record> records);

/// Prints a line for each context: how many times faster its fastest step is than its first. Prints
/// nothing without contexts.
void print_context_summary(std::ostream& out, std::span<const Record> records,
                           const ConsoleStyle& style);

/// A process for each context, in it a row for each step, with a slice for every task. Each step
/// begins at 0. Slices are appended to `events`; the first process is `first_process`.
void add_task_slices(nlohmann::ordered_json& events, std::span<const Record> records,
                     int first_process);

/// True if no record is of a single operator.
bool only_steps(std::span<const Record> records);

/// The steps of one context with one number of threads, in the order of the records.
using ContextSteps = std::vector<const Record*>;

/// Groups the steps by context; records of single operators are skipped. Steps of one context need
/// not follow one another. Pointers point into `records`.
std::vector<ContextSteps> steps_by_context(std::span<const Record> records);

/// A row for each step: number from 1, name, time, its spread, time per sample (only if steps
/// differ in their samples), published time (only if a step has one), TransData count and MiB, Cast
/// count, copies, peak memory, the step it builds on (only if that is not always the row above),
/// and the factors to that step and to the first. The verdict is `step_verdict`.
TextTable step_table(const ContextSteps& steps);

/// Published times of the steps, and how much of the time saved there the counts of this run
/// explain; empty if no step has a published time.
std::string published_text(const ContextSteps& steps);

/// True if the times of two steps per sample differ by less than the noise: twice the standard
/// error of the ratio of their medians. False with fewer than three samples, which have no usable
/// spread.
bool is_equal_within_noise(const Record& step, const Record& before);

/// The verdict on step `i`: "passed", "skipped: exists on a device only", "passed, overflow, 1
/// update skipped", "passed, equal within noise to concat_nchw" (the step that it builds on).
std::string step_verdict(const ContextSteps& steps, std::size_t i);

/// Times by type of task. TransData, Cast and contiguous come first, then other types by their
/// greatest time in a step, "others" for types beyond `most_types`, and the sum. Each step
/// with tasks has a column titled with its number. Cells: time in `unit`, share of all tasks.
struct TimeTable {
  std::string_view unit;  ///< "us", "ms" or "s"
  TextTable table;        ///< empty if no step has tasks
};
TimeTable time_table(const ContextSteps& steps, std::size_t most_types);

/// "shufflenet_v2 fp16", with shape, attributes and "forward+backward" if the case has them.
std::string context_title(const Record& first);
/// The conditions of measuring: "2 threads, cold".
std::string context_details(const Record& first);

}  // namespace opbench::report
