#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/run_command.h"
#include "cli/run_outputs.h"
#include "cli/run_printing.h"
#include "harness/run/load_plan.h"
#include "harness/run/runner.h"
#include "harness/run/unit_plan.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/name_pattern.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

std::size_t thread_counts(const RunOptions& options) {
  return std::max<std::size_t>(1, options.threads.size());
}

// The order in which `run_units` takes the units: each with every number of threads.
std::vector<double> expected_times(std::span<const WorkUnit> units, const RunOptions& options) {
  std::vector<double> seconds;
  for (const WorkUnit& unit : units) {
    seconds.insert(seconds.end(), thread_counts(options), units::expected_seconds(unit, options));
  }
  return seconds;
}

// `loaded`: the dump of the units; null if the units come from case files.
int run_units_here(const RunFlags& flags, const RunOptions& options,
                   std::span<const WorkUnit> units, const LoadPlan* loaded,
                   CommandContext& context) {
  RunOutputs outputs(flags, context, units);
  ProgressLine progress(context);
  const std::size_t cases = count_cases(units);
  RunPage page =
      page_of(flags, loaded != nullptr ? loaded->calls : cases * thread_counts(options), context);
  if (cases > 0 && !page.is_digest) begin_page(page, context);
  RunHooks hooks = make_hooks(context, page, progress, outputs);
  const TimeLeft time_left(loaded != nullptr ? std::vector<double>()
                                             : expected_times(units, options));
  hooks.progress = [&](std::size_t done, std::size_t total) {
    progress.begin(done, total, time_left.text(done));
  };
  const RunResult result = run_units(units, options, hooks);
  progress.clear();
  page.is_kept = keep_last_run(result, context);
  print_end(result, page, context);
  if (loaded != nullptr) print_coverage(context.out, *loaded);
  if (!outputs.write(result)) return kCouldNotFinish;
  if (flags.dump.empty()) tell_errors(result, context);  // for a dump, the writer prints the reason
  return result.exit_code();
}

// The records of a dump define the cases.
void refuse_flags_of_cases(const RunFlags& flags) {
  const auto fields = selection_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view flag = fields[i].flag;
    const bool is_absent = flags.selection[i] == absent_text(fields[i]);
    const bool is_of_kernels =
        flag == "--variant" || flag == "--format" || flag == "--kernels" || flag == "--device";
    if (is_of_kernels || is_absent) continue;
    throw Error(fmt::format(
        "{} does not go with --load: the dump defines the cases; use --only, --variant, "
        "--format, --kernels and --device",
        flag));
  }
  if (flags.explain || !flags.dot.empty()) {
    throw Error(fmt::format("{} needs a context, and --load has none",
                            flags.explain ? "--explain" : "--dot"));
  }
  if (flags.loss_scale) throw Error("--loss-scale needs a context, and --load has none");
  if (writes_dump(flags) && flags.threads.size() > 1) {
    throw Error(
        "--load with --dump or --acl-json takes one number of --threads: each record is written "
        "once");
  }
}

LoadSelection selection_of(const RunFlags& flags, const RunOptions& options) {
  LoadSelection selection;
  if (!flags.only.empty()) selection.only = name_pattern(flags.only, "--only");
  selection.variants = options.selection.variants;
  selection.formats = options.selection.formats;
  selection.dumps = writes_dump(flags);
  selection.times = options.times;
  selection.words = {"--load", flags.load};
  if (!flags.map_file.empty()) {
    selection.words.insert(selection.words.end(), {"--map", flags.map_file});
  }
  for (const Format format : selection.formats) {
    selection.words.insert(selection.words.end(), {"--format", std::string(name(format))});
  }
  return selection;
}

int say_nothing_runs(const LoadPlan& plan, CommandContext& context) {
  if (plan.records > 0) print_coverage(context.out, plan);
  context.err << fmt::format("{}: no record of {} can be run{}\n", program_name(),
                             printable(plan.file), plan.records == 0 ? "; check --only" : "");
  return kNothingToJudge;
}

}  // namespace

int run_here(const RunFlags& flags, const RunOptions& options, std::span<const WorkUnit> units,
             CommandContext& context) {
  return run_units_here(flags, options, units, nullptr, context);
}

int run_dump(const RunFlags& flags, const RunOptions& options, CommandContext& context) {
  refuse_flags_of_cases(flags);
  add_foreign_kernels(options.selection.foreign);
  std::optional<OpTable> extended;
  if (!flags.map_file.empty()) extended = OpTable::load(flags.map_file);
  DumpSource file(flags.load);
  file.stop_when([] { return interrupted(); });
  watch_interrupts();
  ProgressLine progress(context);
  progress.begin("listing");
  const LoadPlan plan =
      plan_load(file, extended ? *extended : OpTable::builtin(), selection_of(flags, options));
  progress.clear();
  if (plan.units.empty()) return say_nothing_runs(plan, context);
  if (flags.dry_run) {
    print_loaded_cases(context.out, plan);
    print_coverage(context.out, plan);
    return kAllWell;
  }
  if (flags.check_overflow) return check_overflow(flags, options, plan.units, &plan, context);
  RunOptions whole = options;  // all recorded values are verified
  whole.most_verified = std::numeric_limits<std::int64_t>::max();
  return run_units_here(flags, whole, plan.units, &plan, context);
}

void refuse_flags_of_load(const RunFlags& flags) {
  if (flags.only.empty() && flags.map_file.empty()) return;
  throw Error(fmt::format("{} needs --load FILE: a dump whose operators are run again",
                          flags.only.empty() ? "--map" : "--only"));
}

}  // namespace opbench
