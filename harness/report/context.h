#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "harness/report/report.h"

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

}  // namespace opbench::report
