#include "cli/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "cli/run_outputs.h"
#include "cli/run_printing.h"
#include "cli/swept_plan.h"
#include "cli/unit_run.h"
#include "harness/plan/explain.h"
#include "harness/plan/selection.h"
#include "harness/run/run_unit.h"
#include "harness/run/runner.h"
#include "harness/run/unit_plan.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kFooter = R"(Examples:
  opbench --op softplus --shapes cases/resnet.yaml --set N=1 --dtype fp32
  opbench --op softplus --shapes cases/resnet.yaml --set N=8 --variant softplus_v2,onednn --threads 1,2
  opbench --cases cases/softplus_prof.yaml --dtype fp16 --format NC1HWC0 --trace softplus.json
  opbench --case 'softplus[8x64x56x56,fp16,NC1HWC0]' --variant softplus_v2 --dump softplus.h5
  opbench --cases cases/shufflenet_v2_forward.yaml --op-summary op_summary.csv
  opbench --cases cases/shufflenet_v2_unit.yaml --explain
  opbench --cases cases/shufflenet_v2_training.yaml --variant 11.O2 --loss-scale 65536 --check-overflow
  opbench --op softplus --shapes cases/resnet.yaml --set N=1 --plot     with bars
  opbench --load gpu.h5 --dump again.h5
  opbench --load gpu.h5 --only 'Conv.*Backward' --variant native,onednn --time 0.1)";

// The units of a part, or all.
int print_plan(const units::UnitPlan& whole, const Part& part, CommandContext& command) {
  const auto put = [&](const std::string& line) {
    command.out << wrapped(line, command.width(), 6) << '\n';
  };
  std::vector<PlannedCase> plan;
  std::vector<PlannedContext> contexts;
  for (const std::size_t unit : units::units_of(whole, part)) {
    if (unit < whole.cases.size())
      plan.push_back(whole.cases[unit]);
    else
      contexts.push_back(whole.contexts[unit - whole.cases.size()]);
  }
  for (const PlannedCase& planned : plan) {
    put(fmt::format("{}  {}", case_id(planned.spec),
                    byte_size_text(double(planned.graph.memory_bytes()))));
    for (const Selection& selection : planned.variants) {
      std::string line = "  " + std::string(selection.variant);
      if (!selection.refusal.empty())
        line += "  skipped: " + selection.refusal;
      else if (selection.kernels.size() > 1)
        line += "  " + selection.kernel_names();
      put(line);
    }
  }
  for (const PlannedContext& context : contexts) {
    put(fmt::format("{}  {}", context.id(), byte_size_text(double(context.largest_step_bytes()))));
    for (const PlannedStep& step : context.steps) {
      put(fmt::format("  {}  {}", step.spec.name,
                      step.refusal().empty() ? fmt::format("{} tasks", step.graph.nodes.size())
                                             : "skipped: " + printable(step.refusal())));
    }
  }
  return kAllWell;
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

void scale_losses(const RunFlags& flags, std::vector<PlannedContext>& contexts) {
  if (!flags.loss_scale) return;
  bool is_any = false;
  for (PlannedContext& planned : contexts) is_any |= set_loss_scale(planned, *flags.loss_scale);
  if (!is_any) {
    throw Error("--loss-scale needs a step whose precision has a loss_scale, and none is selected");
  }
}

WhatRuns what_runs(const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts) {
  WhatRuns what{.has_operators = !plan.empty(), .models = {}};
  for (const PlannedContext& planned : contexts) what.models.push_back(planned.spec.name);
  return what;
}

// What there is where the filter takes nothing of it.
std::string filter_text(CaseSelection selection, CaseFiles& files) {
  const std::string filter = std::exchange(selection.filter, "");
  std::vector<std::string> names;
  std::size_t cases = 0;
  for (const PlannedCase& one : make_plan(selection, files)) {
    ++cases;
    names.push_back(case_id(one.spec));
    if (!one.spec.name.empty()) names.push_back(one.spec.name);
  }
  for (const PlannedContext& one : make_context_plan(selection, files)) {
    names.push_back(one.id());
    ++cases;
  }
  if (names.empty()) return {};
  const std::string near = nearest(filter, names);
  return fmt::format("--filter '{}' takes none of {} case{}; {}", filter, cases,
                     cases == 1 ? "" : "s",
                     near.empty() ? fmt::format("their ids and names are such as {}", names.front())
                                  : fmt::format("did you mean '{}'?", near));
}

int say_nothing_selected(const CaseSelection& selection, CaseFiles& files,
                         CommandContext& context) {
  const std::string filtered = selection.filter.empty() ? "" : filter_text(selection, files);
  context.complain(filtered.empty()
                       ? "no case selected; name some with --op and --shapes, --cases or --case"
                       : filtered);
  return kNothingToJudge;
}

void note_few_cores(const RunOptions& options, CommandContext& context) {
  if (options.threads.empty() || !context.ranks.is_first()) return;
  const int most = *std::max_element(options.threads.begin(), options.threads.end());
  const int cores = available_cores();
  if (most <= cores) return;
  context.complain(
      fmt::format("note: {} threads on {} core{} wait for one another; their times say little",
                  most, cores, cores == 1 ? "" : "s"));
}

// In the order in which `run_plan` takes the cases: each with every number of threads.
std::vector<double> expected_times(const std::vector<PlannedCase>& plan,
                                   const std::vector<PlannedContext>& contexts,
                                   const RunOptions& options) {
  std::vector<double> seconds;
  const std::size_t times = std::max<std::size_t>(1, options.threads.size());
  for (const PlannedCase& one : plan) {
    seconds.insert(seconds.end(), times, units::expected_seconds(one, options));
  }
  for (const PlannedContext& one : contexts) {
    seconds.insert(seconds.end(), times, units::expected_seconds(one, options));
  }
  return seconds;
}

int run_command(const RunFlags& flags, CommandContext& context) {
  check_run_files(flags, context);
  require_takeable_by_units(flags, context.ranks);
  const bool is_shared_out = !flags.dry_run && !flags.explain;
  if (!context.ranks.is_first() && !is_shared_out) return kAllWell;
  if (!flags.isa.empty()) select_isa(flags.isa);
  const RunOptions options = options_of(flags);
  note_few_cores(options, context);
  if (!flags.load.empty()) return run_dump(flags, options, context);
  refuse_flags_of_load(flags);
  SweptPlan swept_plan(flags.selection);
  std::vector<PlannedCase>& plan = swept_plan.cases;
  std::vector<PlannedContext>& contexts = swept_plan.contexts;
  if (plan.empty() && contexts.empty()) {
    return say_nothing_selected(options.selection, swept_plan.files.front(), context);
  }
  require_takeable(flags, options.selection, contexts);
  scale_losses(flags, contexts);
  watch_interrupts();  // before there is a file that could be left behind
  if (!flags.dot.empty() && context.ranks.is_first()) {
    ResultFile(flags.dot, context).write([&](std::ostream& out) { write_dot(out, contexts); });
  }
  if (flags.explain) {
    for (const PlannedContext& planned : contexts) explain(context.out, planned);
    return kAllWell;
  }
  if (flags.check_overflow && !flags.dry_run) {
    return check_overflow(flags, options, plan, contexts, context);
  }
  // A kernel of the user's own that crashes costs its own row alone.
  const bool may_crash = has_own_kernels(plan, contexts) && !needs_one_process(flags);
  if (flags.dry_run || may_crash || runs_in_units(flags, context.ranks)) {
    units::UnitPlan whole =
        units::plan_units(std::move(plan), std::move(contexts), options, flags.isa);
    if (flags.dry_run) return print_plan(whole, part_of(flags), context);
    return run_in_units(flags, options, std::move(whole), context);
  }
  RunOutputs outputs(flags, context, what_runs(plan, contexts));
  ProgressLine progress(context);
  const std::size_t thread_counts = std::max<std::size_t>(1, options.threads.size());
  RunPage page = page_of(flags, plan.size() * thread_counts, context);
  if (!plan.empty() && !page.is_digest) begin_page(page, context);
  RunHooks hooks = make_hooks(context, page, progress, outputs);
  const TimeLeft time_left(expected_times(plan, contexts, options));
  hooks.progress = [&](std::size_t done, std::size_t total) {
    progress.begin(done, total, time_left.text(done));
  };
  const RunResult result = run_plan(plan, contexts, options, hooks);
  progress.clear();
  page.is_kept = keep_last_run(result, context);
  print_end(result, page, context);
  if (!outputs.write(result)) return kCouldNotFinish;
  if (flags.dump.empty()) tell_errors(result, context);  // a dump that is not written says why
  return result.exit_code();
}

// What a run starts for its units (--unit-timeout, kernels of the user's own), with its own flags.
int serve(const RunFlags& flags, bool takes_turns, CommandContext& context) {
  if (!flags.isa.empty()) select_isa(flags.isa);
  const RunOptions options = options_of(flags);
  SweptPlan swept_plan(flags.selection);
  std::vector<PlannedCase>& plan = swept_plan.cases;
  std::vector<PlannedContext>& contexts = swept_plan.contexts;
  scale_losses(flags, contexts);
  units::serve_units(units::plan_units(std::move(plan), std::move(contexts), options, flags.isa),
                     options, takes_turns, std::cin, context.out);
  return kAllWell;
}

}  // namespace

void add_run_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("run", "Verify and time operators (the default command)");
  const auto flags = std::make_shared<RunFlags>();
  add_run_flags(command, *flags);
  add_overwrite_flag(command, context, kResultsGroup);
  add_common_flags(command, context);
  command.footer(kFooter);
  command.action([&context, flags] { return run_command(*flags, context); });
}

void add_unit_worker_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("unit-worker", "What `opbench run` starts for units");
  command.hide();  // not for people: left out of --help
  const auto flags = std::make_shared<RunFlags>();
  add_run_flags(command, *flags);
  const auto takes_turns = std::make_shared<bool>(false);
  command.flag(kTakeTurns, *takes_turns, "Measure in turn with other processes");
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.action([&context, flags, takes_turns] { return serve(*flags, *takes_turns, context); });
}

}  // namespace opbench
