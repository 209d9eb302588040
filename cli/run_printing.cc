#include "cli/run_printing.h"

#include <fmt/format.h>

#include <ostream>

#include "harness/report/report.h"
#include "harness/report/text.h"
#include "harness/run/interrupt.h"
#include "tensor/printable.h"

namespace opbench {
namespace {

// With the line that repeats it.
void print_failures(const RunResult& result, std::ostream& out) {
  for (const Record& record : result.records) {
    if (record.status != Status::failed && record.status != Status::errored &&
        record.status != Status::suspicious) {
      continue;
    }
    out << fmt::format("{}: {} {}: {}\n  {}\n", name(record.status),
                       printable(report::with_short_lists(record.case_id)),
                       printable(record.variant), printable(record.reason), record.reproduce);
  }
}

}  // namespace

report::RowDetail detail_of(const CommandContext& context) {
  return context.verbose ? report::RowDetail::errors : report::RowDetail::usual;
}

RunHooks make_hooks(CommandContext& context, ProgressLine& progress, RunOutputs& outputs) {
  const ConsoleStyle style{context.colour()};
  RunHooks hooks;
  hooks.progress = [&](std::size_t done, std::size_t total) { progress.begin(done, total); };
  hooks.activity = [&](const std::string& what) {
    progress.activity(what, what.substr(0, what.find(' ')));  // the case
  };
  hooks.case_done = [&, style](std::span<const Record> records) {
    progress.clear();
    report::print_case(context.out, records, style, detail_of(context));
    // Behind `| head` nobody waits for the rest, unless it is for files.
    if (!context.out && outputs.is_empty()) interrupt();
  };
  hooks.dump = outputs.dumps();
  return hooks;
}

void print_end(const RunResult& result, CommandContext& context) {
  report::print_summary(context.out, result, {context.colour()});
  print_failures(result, context.out);
}

}  // namespace opbench
