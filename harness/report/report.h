#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "harness/run/machine.h"
#include "harness/run/run_result.h"
#include "text/fitted.h"
#include "text/table.h"

namespace opbench::report {

/// One line per record, a header line, RFC 4180 quoting.
void write_csv(std::ostream& out, std::span<const Record> records);

/// Chrome trace events: one process for the run, one thread per variant, one slice per repetition;
/// and one process per context, one thread per step, one slice per task.
void write_trace(std::ostream& out, std::span<const Record> records);

/// For people to read and pass on: the machine, the command, a table for every operator, the
/// summary, and what is slower than it should be. GitHub's Markdown.
void write_markdown(std::ostream& out, const RunResult& result, const Machine& machine,
                    const std::string& command);

/// The machine and the build, a row for each fact.
TextTable machine_table(const Machine& machine);

/// JUnit XML: one test case for each record, in the suite of its operator. `failed` is a failure,
/// `errored` an error, `skipped` and `xfailed` skipped; `mistrusted`, `suspicious` and `unverified`
/// pass, with their reason in system-out. The time is what all timed calls took.
void write_junit(std::ostream& out, const RunResult& result, const Machine& machine,
                 const std::string& command);

/// Google Benchmark's JSON, which its tools/compare.py reads: every repetition of every timed
/// record, and mean, median, stddev and cv. What was not timed is not in it.
void write_gbench(std::ostream& out, const RunResult& result, const Machine& machine,
                  const std::string& command);

/// `customSmallerIsBetter` of the benchmark tracking action on GitHub: the median of every timed
/// record in microseconds, with its MAD.
void write_smaller_is_better(std::ostream& out, std::span<const Record> records,
                             const Machine& machine);

/// The tasks of all steps of contexts with the columns of the profiler's op_summary.csv (CANN 8.0):
/// "Model Name" is the case's id and the step, "Infer ID" the number of the step from 1. Device
/// operators are modelled: times are the host's, and "Task Type" says HOST_CPU; "Block Dim" is the
/// number of threads. Steps follow one another in time. Shapes are those stored.
void write_op_summary(std::ostream& out, std::span<const Record> records);

/// The same tasks by type, in every step, with the columns of op_statistic.csv.
void write_op_statistic(std::ostream& out, std::span<const Record> records);

/// The columns that the tables of a run have on the console.
enum class RowDetail {
  usual,  ///< what most readers want: time, how much faster than native, GB/s, the verdict
  all,    ///< spread, roofline, the share inside the tolerance and the largest error too
};

/// The heading and rows of one case: a line per variant, best one marked. Of a context: a line per
/// step, and where their time goes.
void print_case(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style,
                RowDetail detail = RowDetail::usual);
/// Column titles.
void print_heading(std::ostream& out, const ConsoleStyle& style,
                   RowDetail detail = RowDetail::usual);
/// After all cases: counts by status, a line per variant over all cases, the harness' own cost and
/// memory.
void print_summary(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                   RowDetail detail = RowDetail::usual);

}  // namespace opbench::report
