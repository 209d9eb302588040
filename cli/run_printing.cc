#include "cli/run_printing.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "harness/report/digest.h"
#include "harness/report/plot.h"
#include "harness/report/report.h"
#include "harness/report/text.h"
#include "harness/run/interrupt.h"
#include "tensor/printable.h"
#include "text/program_name.h"
#include "text/terminal.h"

namespace opbench {
namespace {

bool is_trouble(const Record& record) {
  return record.status == Status::failed || record.status == Status::errored ||
         record.status == Status::suspicious;
}

report::PlotStyle plot_style(const CommandContext& context) {
  return {{context.colour()}, takes_unicode(), context.width()};
}

// With the line that repeats it.
void print_failures(const RunResult& result, std::ostream& out) {
  for (const Record& record : result.records) {
    if (!is_trouble(record)) continue;
    out << fmt::format("{}: {} {}: {}\n  {}\n", name(record.status),
                       printable(report::with_short_lists(record.case_id)),
                       printable(record.variant), printable(record.reason), record.reproduce);
  }
}

// What leads from the first wrong result to its cause, as lines for a shell.
void print_next_steps(const RunResult& result, std::ostream& out) {
  const auto failed = std::find_if(
      result.records.begin(), result.records.end(),
      [](const Record& r) { return r.status == Status::failed && !is_unexpected_pass(r); });
  if (failed == result.records.end()) return;
  out << fmt::format(
      "Next, what is wrong about it, and the smallest call that still is:\n"
      "  {0} --dump wrong.h5\n  {1} judge wrong.h5\n  {1} minimise wrong.h5\n",
      failed->reproduce, program_name());
}

void show_case(std::span<const Record> records, RunPage& page, CommandContext& context) {
  const bool is_operator = !records.front().step;
  if (page.is_digest && is_operator && std::none_of(records.begin(), records.end(), is_trouble)) {
    return;
  }
  if (is_operator) begin_page(page, context);
  report::print_case(context.out, records, {context.colour()}, detail_of(context));
  if (page.has_plots && !page.is_digest) {
    report::plot_case(context.out, records, plot_style(context));
  }
}

}  // namespace

report::RowDetail detail_of(const CommandContext& context) {
  return context.verbose ? report::RowDetail::errors : report::RowDetail::usual;
}

RunPage page_of(const RunFlags& flags, std::size_t cases, const CommandContext& context) {
  constexpr std::size_t kMostInTable = 12;
  return {.is_digest = cases > kMostInTable && !context.verbose, .has_plots = flags.plot};
}

void begin_page(RunPage& page, CommandContext& context) {
  if (page.has_heading) return;
  report::print_heading(context.out, {context.colour()}, detail_of(context));
  page.has_heading = true;
}

RunHooks make_hooks(CommandContext& context, RunPage& page, ProgressLine& progress,
                    RunOutputs& outputs) {
  RunHooks hooks;
  hooks.progress = [&](std::size_t done, std::size_t total) { progress.begin(done, total); };
  hooks.activity = [&](const std::string& what) {
    progress.activity(what, what.substr(0, what.find(' ')));  // the case
  };
  hooks.case_done = [&](std::span<const Record> records) {
    progress.clear();
    show_case(records, page, context);
    // Behind `| head` nobody waits for the rest, unless it is for files.
    if (!context.out && outputs.is_empty()) interrupt();
  };
  hooks.dump = outputs.dumps();
  return hooks;
}

void print_end(const RunResult& result, const RunPage& page, CommandContext& context) {
  const ConsoleStyle style{context.colour()};
  report::print_summary(context.out, result, style);
  if (page.is_digest) {
    if (page.has_plots) report::plot_variants(context.out, result.records, plot_style(context));
    report::print_digest(context.out, result, context.command_line + " --verbose", style);
  }
  print_failures(result, context.out);
  print_next_steps(result, context.out);
}

void tell_errors(const RunResult& result, CommandContext& context) {
  const auto is_errored = [](const Record& r) { return r.status == Status::errored; };
  const auto first = std::find_if(result.records.begin(), result.records.end(), is_errored);
  if (first == result.records.end()) return;
  context.err << fmt::format(
      "{}: {} of {} results ended with an error, first variant '{}' of {}: {}\n", program_name(),
      std::count_if(first, result.records.end(), is_errored), result.records.size(),
      printable(first->variant), printable(report::with_short_lists(first->case_id)),
      printable(first->reason));
}

}  // namespace opbench
