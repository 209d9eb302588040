#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/progress_line.h"
#include "cli/result_file.h"
#include "cli/run_flags.h"
#include "cli/run_outputs.h"
#include "harness/plan/explain.h"
#include "harness/plan/selection.h"
#include "harness/report/row_detail.h"
#include "harness/report/text.h"
#include "harness/run/interrupt.h"
#include "harness/run/runner.h"
#include "tensor/error.h"
#include "tensor/isa.h"
#include "text/program_name.h"

namespace opbench {
namespace {

constexpr const char* kFooter = R"(Examples:
  opbench --op softplus --shapes cases/resnet.yaml
  opbench --op softplus --shapes cases/resnet.yaml --set N=8 --variant softplus_v2,onednn --threads 1,2
  opbench --cases cases/softplus_prof.yaml --dtype fp16 --format NC1HWC0 --trace softplus.json
  opbench --case 'softplus[8x64x56x56,fp16,NC1HWC0]' --variant softplus_v2 --dump npu.h5
  opbench --cases cases/shufflenet_v2_forward.yaml --op-summary op_summary.csv
  opbench --cases cases/shufflenet_v2_unit.yaml --explain)";

int print_plan(const std::vector<PlannedCase>& plan, const std::vector<PlannedContext>& contexts,
               std::ostream& out) {
  for (const PlannedCase& planned : plan) {
    out << case_id(planned.spec)
        << fmt::format("  {:.1f} MiB\n", double(planned.graph.memory_bytes()) / (1 << 20));
    for (const Selection& selection : planned.variants) {
      out << "  " << selection.variant;
      if (!selection.refusal.empty())
        out << "  skipped: " << selection.refusal;
      else if (selection.kernels.size() > 1)
        out << "  " << selection.kernel_names();
      out << '\n';
    }
  }
  for (const PlannedContext& context : contexts) {
    out << fmt::format("{}  {:.1f} MiB\n", context.id(),
                       double(context.largest_step_bytes()) / (1 << 20));
    for (const PlannedStep& step : context.steps) {
      out << "  " << step.spec.name;
      if (step.refusal().empty())
        out << fmt::format("  {} tasks", step.graph.nodes.size());
      else
        out << "  skipped: " << printable(step.refusal());
      out << '\n';
    }
  }
  return kAllWell;
}

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
  hooks.dump = outputs.dump() ? &*outputs.dump() : nullptr;
  return hooks;
}

// What failed, with the line that repeats it.
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

// Errors: throws Error for flags that need a context, or that contexts do not take.
void require_takeable(const RunFlags& flags, const CaseSelection& selection,
                      const std::vector<PlannedContext>& contexts) {
  if (!contexts.empty() && (selection.backward || !selection.formats.empty())) {
    throw Error(fmt::format(
        "{} is for single operators, and contexts are selected: they say in their file {}",
        selection.backward ? "--backward" : "--format",
        selection.backward ? "whether they run backward"
                           : "how inputs arrive (format: of an input)"));
  }
  if (contexts.empty() && (flags.explain || !flags.dot.empty())) {
    throw Error(
        fmt::format("{} needs a context, and none is selected; name a case file that has "
                    "some, such as cases/shufflenet_v2_unit.yaml, with --cases",
                    flags.explain ? "--explain" : "--dot"));
  }
}

int run(const RunFlags& flags, CommandContext& context) {
  require_distinct_files(flags);
  if (!flags.isa.empty()) select_isa(flags.isa);
  const RunOptions options = options_of(flags);
  CaseFiles files(options.selection.symbols);
  const std::vector<PlannedCase> plan = make_plan(options.selection, files);
  const std::vector<PlannedContext> contexts = make_context_plan(options.selection, files);
  if (plan.empty() && contexts.empty()) {
    context.err << program_name()
                << ": no case selected; name some with --op and --shapes, --cases or --case, "
                   "and check --filter and --shard\n";
    return kNothingToJudge;
  }
  require_takeable(flags, options.selection, contexts);
  watch_interrupts();  // before there is a file that could be left behind
  if (!flags.dot.empty()) {
    ResultFile(flags.dot, context).write([&](std::ostream& out) { write_dot(out, contexts); });
  }
  if (flags.explain) {
    for (const PlannedContext& planned : contexts) explain(context.out, planned);
    return kAllWell;
  }
  if (flags.dry_run) return print_plan(plan, contexts, context.out);
  RunOutputs outputs(flags, context, !contexts.empty());
  ProgressLine progress(context);
  if (!plan.empty()) report::print_heading(context.out, {context.colour()}, detail_of(context));
  const RunResult result =
      run_plan(plan, contexts, options, make_hooks(context, progress, outputs));
  progress.clear();
  report::print_summary(context.out, result, {context.colour()});
  print_failures(result, context.out);
  return outputs.write(result) ? result.exit_code() : kCouldNotFinish;
}

}  // namespace

void add_run_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("run", "Verify and time operators (the default command)");
  const auto flags = std::make_shared<RunFlags>();
  add_run_flags(command, *flags);
  add_common_flags(command, context);
  command.footer(kFooter);
  command.action([&context, flags] { return run(*flags, context); });
}

}  // namespace opbench
