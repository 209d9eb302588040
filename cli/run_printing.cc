#include "cli/run_printing.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "harness/report/console.h"
#include "harness/report/report.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

bool is_trouble(const Record& record) {
  return record.status == Status::failed || record.status == Status::errored ||
         record.status == Status::suspicious;
}

report::PlotStyle plot_style(const CommandContext& context) {
  return {{context.colour()}, takes_unicode(), context.width()};
}

// Prints the failure with the command line that repeats it.
void print_failures(const RunResult& result, std::ostream& out, std::size_t width) {
  for (const Record& record : result.records) {
    if (!is_trouble(record)) continue;
    const std::string text =
        fmt::format("{}: {} {}: {}", name(record.status), printable(report::shown_id(record)),
                    printable(record.variant), printable(record.reason));
    out << wrapped(text, width, 4) << "\n  " << wrapped_command(record.reproduce, width, 6, 2)
        << '\n';
  }
}

// Prints the shell commands that lead from the first wrong result to its cause.
void print_next_steps(const RunResult& result, std::ostream& out, std::size_t width) {
  const auto failed = std::find_if(
      result.records.begin(), result.records.end(),
      [](const Record& r) { return r.status == Status::failed && !is_unexpected_pass(r); });
  if (failed == result.records.end()) return;
  out << fmt::format(
      "Next: find the error, and the smallest call that is still wrong:\n"
      "  {0}\n  {1} judge wrong.h5\n  {1} minimise wrong.h5\n",
      wrapped_command(failed->reproduce + " --dump wrong.h5", width, 6, 2), program_name());
}

void show_case(std::span<const Record> records, RunPage& page, CommandContext& context) {
  const bool is_operator = !records.front().step;
  if (page.is_digest && is_operator && std::none_of(records.begin(), records.end(), is_trouble)) {
    return;
  }
  if (context.quiet) return;
  if (is_operator) begin_page(page, context);
  report::print_case(context.out, records, table_style(context), detail_of(context));
  if (page.has_plots && !page.is_digest) {
    report::plot_case(context.out, records, plot_style(context));
  }
}

}  // namespace

// With --verbose the table has every column, at any width.
ConsoleStyle table_style(const CommandContext& context) {
  constexpr std::size_t kWidest = 1000;
  return {context.colour(), context.verbose ? kWidest : context.width()};
}

report::RowDetail detail_of(const CommandContext& context) {
  return context.verbose ? report::RowDetail::all : report::RowDetail::usual;
}

RunPage page_of(const RunFlags& flags, std::size_t cases, const CommandContext& context) {
  constexpr std::size_t kMostInTable = 12;
  return {.is_digest = cases > kMostInTable && !context.verbose, .has_plots = flags.plot};
}

void begin_page(RunPage& page, CommandContext& context) {
  if (page.has_heading || context.quiet) return;
  report::print_heading(context.out, table_style(context), detail_of(context));
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
    // If the reader of standard output has ended (`| head`), only output files need the rest.
    if (!context.out && outputs.is_empty()) interrupt();
  };
  hooks.dump = outputs.dumps();
  return hooks;
}

void print_end(const RunResult& result, const RunPage& page, CommandContext& context) {
  const ConsoleStyle style = table_style(context);
  const report::RowDetail detail = detail_of(context);
  if (context.quiet) {
    report::print_end_of_run(context.out, result, style, detail);
  } else {
    report::print_summary(context.out, result, style, detail);
  }
  if (page.is_digest && !context.quiet) {
    if (page.has_plots) report::plot_variants(context.out, result.records, plot_style(context));
    const std::string rows = page.is_kept ? fmt::format("{} report --last", program_name())
                                          : context.command_line + " --verbose";
    report::print_digest(context.out, result, rows, style);
  }
  print_failures(result, context.out, style.width);
  print_next_steps(result, context.out, style.width);
}

void tell_errors(const RunResult& result, CommandContext& context) {
  if (const std::string why = result.reason_text(); !why.empty()) context.complain(why);
}

}  // namespace opbench
