#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "harness/run/machine.h"
#include "harness/run/run_result.h"
#include "text/fitted.h"
#include "text/table.h"

namespace opbench::report {

/// A header line and a line for each record, RFC 4180 quoting.
void write_csv(std::ostream& out, std::span<const Record> records);

/// Chrome trace events. The run is a process with a thread for each variant and a slice for each
/// repetition. Each context is a process with a thread for each step and a slice for each task.
void write_trace(std::ostream& out, std::span<const Record> records);

/// A report in GitHub's Markdown: the machine, the command, a table for every operator, the
/// summary, and results that are slower than expected.
void write_markdown(std::ostream& out, const RunResult& result, const Machine& machine,
                    const std::string& command);

/// The machine and the build, a row for each fact.
TextTable machine_table(const Machine& machine);

/// JUnit XML: one test case for each record, in the suite of its operator. `failed` is a failure,
/// `errored` an error, `skipped` and `xfailed` skipped; `mistrusted`, `suspicious` and `unverified`
/// pass, with their reason in system-out. The time is what all timed calls took.
void write_junit(std::ostream& out, const RunResult& result, const Machine& machine,
                 const std::string& command);

/// Google Benchmark's JSON, for its tools/compare.py: every repetition of every timed record, and
/// mean, median, stddev and cv. Records without a time are omitted.
void write_gbench(std::ostream& out, const RunResult& result, const Machine& machine,
                  const std::string& command);

/// The format `customSmallerIsBetter` of the benchmark tracking action on GitHub: the median of
/// every timed record in microseconds, with its MAD.
void write_smaller_is_better(std::ostream& out, std::span<const Record> records,
                             const Machine& machine);

/// The tasks of all steps of contexts with the columns of the profiler's op_summary.csv (CANN 8.0).
/// "Model Name" is the case's id and the step, "Infer ID" the number of the step from 1. Device
/// operators are modelled: times are those of the host, and "Task Type" is HOST_CPU. "Block Dim" is
/// the number of threads. Steps follow one another in time. Shapes are storage shapes.
void write_op_summary(std::ostream& out, std::span<const Record> records);

/// These tasks by type, in every step, with the columns of op_statistic.csv.
void write_op_statistic(std::ostream& out, std::span<const Record> records);

/// The columns in the tables of a run on the console.
enum class RowDetail {
  usual,  ///< what most readers want: time, how much faster than native, GB/s, the verdict
  all,    ///< spread, roofline, the share inside the tolerance and the largest error too
};

/// The heading and rows of one case: a line for each variant, with the best one marked. For a
/// context: a line for each step, and a table of times.
void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style,
                RowDetail detail = RowDetail::usual);
/// Column titles.
void print_heading(std::ostream& out, const ConsoleStyle& style,
                   RowDetail detail = RowDetail::usual);
/// Printed after all cases: counts by status, a line for each variant over all cases, and the
/// harness's own cost and memory.
void print_summary(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                   RowDetail detail = RowDetail::usual);

}  // namespace opbench::report
