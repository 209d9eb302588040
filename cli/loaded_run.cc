#include <fmt/format.h>

#include <optional>
#include <ostream>
#include <string_view>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/run_command.h"
#include "cli/run_outputs.h"
#include "cli/run_printing.h"
#include "harness/run/load_plan.h"
#include "harness/run/load_run.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/name_pattern.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

// A dump says itself what its calls are.
void refuse_flags_of_cases(const RunFlags& flags) {
  const auto fields = selection_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view flag = fields[i].flag;
    const bool is_absent = flags.selection[i] == absent_text(fields[i]);
    if (flag == "--variant" || flag == "--format" || is_absent) continue;
    throw Error(fmt::format(
        "{} does not go with --load: the dump says what runs; --only, --variant and --format do",
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

int run_dump(const RunFlags& flags, const RunOptions& options, CommandContext& context) {
  refuse_flags_of_cases(flags);
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
  if (plan.cases.empty()) return say_nothing_runs(plan, context);
  if (flags.dry_run) {
    print_loaded_cases(context.out, plan);
    print_coverage(context.out, plan);
    return kAllWell;
  }
  if (flags.check_overflow) return check_overflow(flags, options, file, plan, context);
  RunOutputs outputs(flags, context, {.has_operators = true, .models = {}});
  RunPage page = page_of(flags, plan.cases.size(), context);
  if (!page.is_digest) begin_page(page, context);
  const RunResult result =
      run_loaded(file, plan, options, make_hooks(context, page, progress, outputs));
  progress.clear();
  page.is_kept = keep_last_run(result, context);
  print_end(result, page, context);
  print_coverage(context.out, plan);
  if (!outputs.write(result)) return kCouldNotFinish;
  if (flags.dump.empty()) tell_errors(result, context);  // a dump that is not written says why
  return result.exit_code();
}

void refuse_flags_of_load(const RunFlags& flags) {
  if (flags.only.empty() && flags.map_file.empty()) return;
  throw Error(fmt::format("{} needs --load FILE: a dump whose operators are run again",
                          flags.only.empty() ? "--map" : "--only"));
}

}  // namespace opbench
