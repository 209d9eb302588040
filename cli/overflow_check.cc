#include "cli/overflow_check.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <ostream>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "dump/dump_writer.h"
#include "harness/run/load_plan.h"
#include "harness/run/overflow_report.h"
#include "harness/run/overflow_run.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/printable.h"
#include "text/program_name.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

using Run = std::function<OverflowRun(int threads, const OverflowHooks& hooks)>;

void refuse_other_flags(const RunFlags& flags) {
  const auto refuse = [](const char* flag, bool is_given) {
    if (!is_given) return;
    throw Error(fmt::format(
        "{} does not go with --check-overflow, which measures nothing and writes --dump alone",
        flag));
  };
  refuse("--time", flags.seconds.has_value());
  refuse("--cold", flags.cold);
  refuse("--threads with several numbers", flags.threads.size() > 1);
  refuse("--acl-json", !flags.acl_json.empty());
  refuse("--out", !flags.out_dir.empty());
  refuse("--json", !flags.json.empty());
  refuse("--csv", !flags.csv.empty());
  refuse("--markdown", !flags.markdown.empty());
  refuse("--junit", !flags.junit.empty());
  refuse("--benchmark-json", !flags.benchmark_json.empty());
  refuse("--trace", !flags.trace.empty());
  refuse("--op-summary", !flags.op_summary.empty());
  refuse("--op-statistic", !flags.op_statistic.empty());
}

void print_found(std::ostream& out, const RunOverflow& found, const ConsoleStyle& style) {
  out << coloured(overflow_line(printable(found.op), found.seq), kRed, style) << '\n';
  std::string how = found.has_flag ? "flag" : "";
  if (found.found.is_any()) {
    how +=
        fmt::format("{}value: {}", how.empty() ? "" : ", ", to_string(found.found, found.elements));
  }
  out << fmt::format("    {} ({})\n", how, printable(found.place));
  out.flush();
}

void finish(std::optional<DumpWriter>& dump, const std::string& path, CommandContext& context) {
  if (!dump) return;
  if (dump->records() > 0) return dump->finish();
  dump.reset();
  context.err << fmt::format("{}: nothing overflowed: {} is not written\n", program_name(),
                             printable(path));
}

int exit_code_of(const OverflowRun& result) {
  if (interrupted() || !result.errors.empty()) return kCouldNotFinish;
  if (!result.found.empty()) return kVerdictFailed;
  return result.operators > 0 ? kAllWell : kNothingToJudge;
}

int check(const RunFlags& flags, const RunOptions& options, const Run& run,
          CommandContext& context) {
  refuse_other_flags(flags);
  std::optional<DumpWriter> dump;
  if (!flags.dump.empty()) dump.emplace(flags.dump);
  ProgressLine progress(context);
  OverflowHooks hooks;
  hooks.progress = [&](std::size_t done, std::size_t all) { progress.begin(done, all); };
  hooks.found = [&](const RunOverflow& found) {
    progress.clear();
    print_found(context.out, found, {context.colour()});
  };
  hooks.dump = dump ? &*dump : nullptr;
  const OverflowRun result =
      run(options.threads.empty() ? available_cores() : options.threads.front(), hooks);
  progress.clear();
  context.out << fmt::format(
      "{} of {} operators overflowed{}\n", result.found.size(), result.operators,
      result.found.empty() ? ""
                           : fmt::format(", first SeqId {} ({})", result.found.front().seq,
                                         printable(result.found.front().op)));
  for (const std::string& error : result.errors) context.complain(error);
  finish(dump, flags.dump, context);
  return exit_code_of(result);
}

}  // namespace

int check_overflow(const RunFlags& flags, const RunOptions& options,
                   const std::vector<PlannedCase>& plan,
                   const std::vector<PlannedContext>& contexts, CommandContext& context) {
  return check(
      flags, options,
      [&](int threads, const OverflowHooks& hooks) {
        return run_for_overflow(plan, contexts, threads, hooks);
      },
      context);
}

int check_overflow(const RunFlags& flags, const RunOptions& options, DumpSource& file,
                   const LoadPlan& plan, CommandContext& context) {
  const int code = check(
      flags, options,
      [&](int threads, const OverflowHooks& hooks) {
        return run_for_overflow(file, plan, threads, hooks);
      },
      context);
  print_coverage(context.out, plan);
  return code;
}

}  // namespace opbench
