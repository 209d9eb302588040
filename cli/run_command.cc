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
#include "cli/run_flags.h"
#include "cli/run_outputs.h"
#include "cli/swept_plan.h"
#include "cli/unit_run.h"
#include "harness/plan/explain.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/call_counters.h"
#include "harness/run/unit_plan.h"
#include "harness/run/unit_process.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

constexpr const char* kRunFooter = R"(Examples:
  opbench --op softplus --shapes cases/resnet.yaml --set N=1 --dtype fp32
  opbench --op softplus --shapes cases/resnet.yaml --set N=8 --variant softplus_v2,onednn --threads 1,2
  opbench --cases cases/softplus_prof.yaml --dtype fp16 --format NC1HWC0 --trace softplus.json
  opbench --case 'softplus[8x64x56x56,fp16,NC1HWC0]' --variant softplus_v2 --dump softplus.h5
  opbench --cases cases/shufflenet_v2_forward.yaml --op-summary op_summary.csv
  opbench --cases cases/shufflenet_v2_unit.yaml --explain
  opbench --cases cases/shufflenet_v2_training.yaml --variant 11.O2 --loss-scale 65536 --check-overflow
  opbench --op softplus --shapes cases/resnet.yaml --set N=1 --plot     with bars
  opbench --case 'relu[8x64x56x56,fp32]' --counters     with instructions, cache misses, energy
  opbench --load gpu.h5 --dump again.h5
  opbench --load gpu.h5 --only 'Conv.*Backward' --variant native,onednn --time 0.1)";

// The kernels of a variant, the tasks of a step, or the reason why it does not run. Empty for a
// single kernel.
std::string summary_of(const WorkUnit& unit, std::size_t i) {
  const SelectedKernels& selection = unit.selection(i);
  if (!selection.refusal.empty()) return "  skipped: " + printable(selection.refusal);
  if (unit.is_context()) return fmt::format("  {} tasks", unit.graph(i).nodes.size());
  return selection.kernels.size() > 1 ? "  " + selection.kernel_names() : "";
}

// Prints the units of a part, or all units.
int print_plan(const units::UnitPlan& plan, const Part& part, CommandContext& command) {
  const auto put = [&](const std::string& line) { say(command.out, line, 0, 6, command.width()); };
  for (const std::size_t place : units::units_of(plan, part)) {
    const WorkUnit& unit = plan.units[place];
    put(fmt::format("{}  {}", unit.id, byte_size_text(double(unit.bytes()))));
    for (std::size_t i = 0; i < unit.size(); ++i) {
      put(fmt::format("  {}{}", unit.selection(i).variant, summary_of(unit, i)));
    }
  }
  return kAllWell;
}

// Errors: throws Error for flags that need a context, or that contexts do not accept.
void require_takeable(const RunFlags& flags, const CaseSelection& selection, bool has_contexts) {
  if (has_contexts && (selection.backward || !selection.formats.empty())) {
    throw Error(
        fmt::format("{} is for single operators, but contexts are selected: their file defines {}",
                    selection.backward ? "--backward" : "--format",
                    selection.backward ? "whether they run backward"
                                       : "how inputs arrive (format: of an input)"));
  }
  if (!has_contexts && (flags.explain || !flags.dot.empty())) {
    throw Error(
        fmt::format("{} needs a context, but none is selected; name a case file with "
                    "contexts, such as cases/shufflenet_v2_unit.yaml, with --cases",
                    flags.explain ? "--explain" : "--dot"));
  }
}

void scale_losses(const RunFlags& flags, std::span<const WorkUnit> units) {
  if (!flags.loss_scale) return;
  bool is_any = false;
  for (const WorkUnit& unit : units) {
    is_any |= unit.is_context() && set_loss_scale(*unit.context, *flags.loss_scale);
  }
  if (!is_any) {
    throw Error("--loss-scale needs a step whose precision has a loss_scale, but none is selected");
  }
}

// The available cases if the filter selects none.
std::string filter_text(CaseSelection selection) {
  const std::string filter = std::exchange(selection.filter, "");
  std::vector<std::string> names;
  const std::vector<WorkUnit> units = make_plan(selection);
  for (const WorkUnit& unit : units) {
    names.push_back(unit.id);
    if (!unit.is_context() && !unit.name().empty()) names.push_back(unit.name());
  }
  if (names.empty()) return {};
  const std::string near = nearest(filter, names);
  return fmt::format("--filter '{}' selects none of {}; {}", filter, counted(units.size(), "case"),
                     near.empty() ? fmt::format("their ids and names are such as {}", names.front())
                                  : fmt::format("did you mean '{}'?", near));
}

int say_nothing_selected(const CaseSelection& selection, CommandContext& context) {
  const std::string filtered = selection.filter.empty() ? "" : filter_text(selection);
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
      fmt::format("note: {} threads on {} wait for each other; their times are not reliable", most,
                  counted(cores, "core")));
}

void note_uncounted(const RunOptions& options, CommandContext& context) {
  if (!options.counters || !context.ranks.is_first()) return;
  for (const std::string& what : CallCounters::refusals()) context.complain("note: " + what);
}

int run_command(const RunFlags& flags, CommandContext& context) {
  check_run_files(flags, context);
  require_takeable_by_units(flags, context.ranks);
  const bool is_shared_out = !flags.dry_run && !flags.explain;
  if (!context.ranks.is_first() && !is_shared_out) return kAllWell;
  if (!flags.isa.empty()) select_isa(flags.isa);
  const RunOptions options = options_of(flags);
  note_few_cores(options, context);
  note_uncounted(options, context);
  if (!flags.load.empty()) return run_dump(flags, options, context);
  refuse_flags_of_load(flags);
  std::vector<WorkUnit> units = swept_plan(flags.selection);
  if (units.empty()) return say_nothing_selected(options.selection, context);
  require_takeable(flags, options.selection, units.back().is_context());
  scale_losses(flags, units);
  watch_interrupts();  // before there is a file that could be left behind
  if (!flags.dot.empty() && context.ranks.is_first()) {
    ResultFile(flags.dot, context).write([&](std::ostream& out) { write_dot(out, units); });
  }
  if (flags.explain) {
    explain(context.out, units);
    return kAllWell;
  }
  if (flags.check_overflow && !flags.dry_run) {
    return check_overflow(flags, options, units, nullptr, context);
  }
  // A user's kernel that crashes must not affect other rows.
  const bool may_crash = has_own_kernels(units) && !needs_one_process(flags);
  if (flags.dry_run || may_crash || runs_in_units(flags, context.ranks)) {
    units::UnitPlan whole = units::plan_units(std::move(units), options, flags.isa);
    if (flags.dry_run) return print_plan(whole, part_of(flags), context);
    return run_in_units(flags, options, std::move(whole), context);
  }
  return run_here(flags, options, units, context);
}

// The process that a run starts for its units (--unit-timeout, user's kernels), with the run's
// flags.
int serve(const RunFlags& flags, bool takes_turns, CommandContext& context) {
  if (!flags.isa.empty()) select_isa(flags.isa);
  const RunOptions options = options_of(flags);
  std::vector<WorkUnit> units = swept_plan(flags.selection);
  scale_losses(flags, units);
  units::serve_units(units::plan_units(std::move(units), options, flags.isa), options, takes_turns,
                     std::cin, context.out);
  return kAllWell;
}

}  // namespace

void add_run_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("run", "Verify and time operators (the default command)");
  const auto flags = std::make_shared<RunFlags>();
  add_run_flags(command, *flags);
  add_overwrite_flag(command, context, kResultsGroup);
  add_common_flags(command, context);
  command.common({"--op", "--shapes", "--cases", "--case", "--set", "--dtype", "--variant",
                  "--threads", "--time", "--json", "--out", "--dump", "--dry-run"});
  command.footer(kRunFooter);
  command.action([&context, flags] {
    set_impl_mode(*flags);
    return run_command(*flags, context);
  });
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
  command.action([&context, flags, takes_turns] {
    set_impl_mode(*flags);
    return serve(*flags, *takes_turns, context);
  });
}

}  // namespace opbench
