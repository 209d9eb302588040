#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "cli/run_command.h"
#include "dump/dump_writer.h"
#include "harness/run/device_overflow.h"
#include "harness/run/load_plan.h"
#include "harness/run/overflow_report.h"
#include "harness/run/overflow_run.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/name_pattern.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

void refuse_other_flags(const RunFlags& flags) {
  refuse_given({{"--time", flags.seconds.has_value()},
                {"--cold", flags.cold},
                {"--threads with several numbers", flags.threads.size() > 1},
                {"--acl-json", !flags.acl_json.empty()},
                {"--out", !flags.out_dir.empty()},
                {"--json", !flags.json.empty()},
                {"--csv", !flags.csv.empty()},
                {"--markdown", !flags.markdown.empty()},
                {"--junit", !flags.junit.empty()},
                {"--benchmark-json", !flags.benchmark_json.empty()},
                {"--trace", !flags.trace.empty()},
                {"--prof-dir", !flags.prof_dir.empty()},
                {"--op-summary", !flags.op_summary.empty()},
                {"--op-statistic", !flags.op_statistic.empty()}},
               "does not go with --check-overflow, which measures nothing and writes only --dump");
}

void print_found(std::ostream& out, const RunOverflow& found, const ConsoleStyle& style) {
  out << coloured(overflow_line(printable(found.op), found.seq), kRed, style) << '\n';
  std::string how = found.has_flag ? "flag" : "";
  if (found.found.is_any()) {
    how +=
        fmt::format("{}value: {}", how.empty() ? "" : ", ", to_string(found.found, found.elements));
  }
  say(out, fmt::format("{} ({})", how, found.place), 4, 2, style.width);
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

}  // namespace

int check_overflow(const RunFlags& flags, const RunOptions& options,
                   std::span<const WorkUnit> units, const LoadPlan* loaded,
                   CommandContext& context) {
  refuse_other_flags(flags);
  std::optional<DumpWriter> dump;
  if (!flags.dump.empty()) dump.emplace(flags.dump);
  ProgressLine progress(context);
  OverflowHooks hooks;
  hooks.progress = [&](std::size_t done, std::size_t all) { progress.begin(done, all); };
  hooks.found = [&](const RunOverflow& found) {
    progress.clear();
    print_found(context.out, found, {context.colour(), context.width()});
  };
  hooks.dump = dump ? &*dump : nullptr;
  const int threads = options.threads.empty() ? available_cores() : options.threads.front();
  const OverflowRun result = run_for_overflow(units, threads, hooks);
  progress.clear();
  say(context.out,
      fmt::format("{} of {} operators overflowed{}", result.found.size(), result.operators,
                  result.found.empty()
                      ? ""
                      : fmt::format(", first SeqId {} ({})", result.found.front().seq,
                                    result.found.front().op)),
      0, 2, context.width());
  for (const std::string& error : result.errors) context.complain(error);
  finish(dump, flags.dump, context);
  if (loaded != nullptr) print_coverage(context.out, *loaded);
  return exit_code_of(result);
}

namespace {

constexpr const char* kOverflowFooter =
    R"(An operator overflowed if its outputs hold Inf, NaN, or in fp16 +-65504, and its inputs hold no such value.

Examples:
  opbench overflow npu.h5
  opbench overflow npu.h5 --loss-scale 1024 --top 0
  opbench overflow gpu.h5 --only Backward --json overflow.json
  opbench overflow -d /dump/20260101 -out overflow -n 5
  opbench run --cases cases/shufflenet_v2_training.yaml --loss-scale 65536 --check-overflow

Exit code 1: an operator overflowed (0 with -d, as msaccucmp); 4: nothing could be read.)";

struct OverflowFlags {
  std::string dump, device_dump, out, only, json;
  int records = 1;
  double loss_scale = 1;
  std::int64_t top = 10;
};

ScanOptions options_of(const OverflowFlags& flags) {
  if (!(flags.loss_scale > 0 && flags.loss_scale <= 0x1p126)) {
    throw Error(
        fmt::format("--loss-scale is {:g}; it must be above 0, at most 2^126", flags.loss_scale));
  }
  ScanOptions options;
  options.loss_scale = flags.loss_scale;
  if (!flags.only.empty()) options.only = name_pattern(flags.only, "--only");
  return options;
}

int exit_code_of(const OverflowScan& scan) {
  if (interrupted()) return kCouldNotFinish;
  if (scan.count() > 0) return kVerdictFailed;
  const bool is_any = std::any_of(scan.records.begin(), scan.records.end(),
                                  [](const ScannedRecord& r) { return r.elements > 0; });
  return is_any ? kAllWell : kNothingToJudge;
}

// Prints a message for each file that cannot be read. Other files are not affected.
int report_failures(const ConvertOutcome& outcome, CommandContext& context) {
  int code = kAllWell;
  for (const ConvertFailure& failure : outcome.failures) {
    context.complain(failure.reason);
    code = std::max<int>(code, failure.is_of_machine ? kCouldNotFinish : kBadInput);
  }
  return code;
}

int summarise(const OverflowFlags& flags, CommandContext& context) {
  constexpr int kMostRecords = 1000;
  if (flags.records < 1 || flags.records > kMostRecords) {
    throw Error(fmt::format("-n is {}; it must be from 1 to {}", flags.records, kMostRecords));
  }
  refuse_standard_output("-o", flags.out, "several files", "a folder");
  watch_interrupts();
  const bool is_theirs = !flags.device_dump.empty();
  const DeviceOverflow found = summarise_device_overflow(
      {is_theirs ? flags.device_dump : flags.dump, flags.out, flags.records}, interrupted);
  if (found.records == 0) {
    context.complain(
        fmt::format("there is no file Opdebug.Node_OpDebug.* in {}", flags.device_dump));
    return kNothingToJudge;
  }
  context.out << found.summary;
  context.out << fmt::format("{} operators overflowed", found.records);
  if (!flags.out.empty()) {
    context.out << fmt::format("; {} files in {}", found.outcome.written, printable(flags.out));
  }
  context.out << '\n';
  if (interrupted()) return kCouldNotFinish;
  const int code = report_failures(found.outcome, context);
  return code != kAllWell || is_theirs ? code : kVerdictFailed;
}

void refuse_both(const OverflowFlags& flags) {
  if (flags.dump.empty() == flags.device_dump.empty()) {
    throw Error("overflow takes a dump, or -d DIR with the debug files of a device");
  }
}

int overflow(const OverflowFlags& flags, CommandContext& context) {
  refuse_both(flags);
  if (!flags.device_dump.empty() || has_overflow_records(flags.dump)) {
    return summarise(flags, context);
  }
  const ScanOptions options = options_of(flags);
  check_files(std::vector<NamedFile>{{"the dump", flags.dump}},
              std::vector<NamedFile>{{"--json", flags.json}}, context);
  DumpSource file(flags.dump);
  watch_interrupts();
  std::optional<ResultFile> json;
  if (!flags.json.empty()) json.emplace(flags.json, context);
  file.stop_when([] { return interrupted(); });
  ProgressLine progress(context);
  progress.begin("reading " + file.name());
  const OverflowScan scan = scan_for_overflow(
      file, options, [&](std::size_t done, std::size_t all) { progress.begin(done, all); },
      [] { return interrupted(); });
  progress.clear();
  print_overflow(context.out, scan, static_cast<std::size_t>(std::max<std::int64_t>(0, flags.top)),
                 {context.colour(), context.width()});
  if (json) {
    json->write([&](std::ostream& out) { write_overflow_json(out, scan, context.command_line); });
  }
  return exit_code_of(scan);
}

}  // namespace

void add_overflow_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("overflow", "Find operators that overflowed, and a loss scale that fits");
  const auto flags = std::make_shared<OverflowFlags>();
  command.option("DUMP", flags->dump, "A dump, or a directory with debug files of a device",
                 {.value = "FILE"});
  command.option("-d,--device-dump", flags->device_dump,
                 "Debug files of a device (Opdebug.Node_OpDebug.*) next to dumps, by "
                 "msaccucmp's command line: -d DIR -out DIR -n N",
                 {.value = "DIR"});
  command.option("-o,--out", flags->out,
                 "Directory for the debug files as JSON, their tensors as .npy, and a summary",
                 {.value = "DIR"});
  command.option("-n,--records", flags->records, "Debug files to read, the earliest first",
                 {.value = "N", .shows_default = true});
  command.option("--only", flags->only,
                 "Only operators whose name, or name/number, matches this regular expression",
                 {.value = "REGEX"});
  command.option("--loss-scale", flags->loss_scale, "Loss scale of the dumped step",
                 {.value = "NUMBER", .shows_default = true});
  command.option("--top", flags->top, "Operators with the least headroom to print; 0: all",
                 {.value = "N", .shows_default = true});
  command.option("--json", flags->json, "All results; - is standard output", {.value = "FILE"});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kOverflowFooter);
  command.action([&context, flags] { return overflow(*flags, context); });
}

}  // namespace opbench
